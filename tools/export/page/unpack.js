// The data of the page: base64 of a zlib stream of a JSON header and columns of numbers, each column in planes of bytes
// (all lowest bytes first), which compress better. tools/export/page/page_data.cc writes it.

function bytesOfBase64(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const COLUMN_TYPES = {u8: Uint8Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array};

// The columns behind the header: {name: typed array}.
function readColumns(bytes, offset, layout) {
  const columns = {};
  for (const [name, type, count] of layout) {
    const Type = COLUMN_TYPES[type], width = Type.BYTES_PER_ELEMENT, plain = new Uint8Array(count * width);
    for (let plane = 0; plane < width; ++plane) {
      const from = offset + plane * count;
      for (let i = 0, to = plane; i < count; ++i, to += width) plain[to] = bytes[from + i];
    }
    columns[name] = new Type(plain.buffer);
    offset += count * width;
  }
  return columns;
}

// {header, columns} of the text of a data element.
async function unpack(base64) {
  const bytes = await inflate(bytesOfBase64(base64.trim()));
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return {header, columns: readColumns(bytes, 4 + length, header.columns)};
}
