// The command of heaprec that prints the table that is shown, for a shell.

const BY = {sites: "site", classes: "class", threads: "thread"};
const plainRegex = text => text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
const timeOption = t => t.toFixed(6).replace(/\.?0+$/, "") + "s";

// The options of the filters that are on, but that of the tab itself.
function filterOptions({state, model, tree}) {
  const options = [...model.header.given];
  if (state.cls !== null && state.tab !== "classes") options.push("--class", `/^${plainRegex(state.cls)}$/`);
  if (state.site !== null && state.tab !== "sites") options.push("--site", `/^${plainRegex(state.site)}$/`);
  if (state.thread !== null && state.tab !== "threads") options.push("--thread", `^${plainRegex(state.thread).replace(/\\\*$/, ".*")}$`);
  if (state.focus > 0) {
    const box = tree.key[state.focus], name = tree.full[box];
    if (box < tree.methods) options.push("--focus", `^${plainRegex(name)}$`);
    else if (box < tree.methods + tree.classes && state.cls === null) options.push("--class", `/^${plainRegex(name)}$/`);
  }
  return options;
}

const REPORT_COMMANDS = {timeline: ["timeline"], live: ["live"], leaks: ["leaks", "--all"], census: ["census"], native: ["native"],
  exceptions: ["top", "--kind", "exception"], trust: ["doctor"], facts: ["summary", "--verbose"]};

function commandOf(page) {
  const {state, model, sideA, sideB} = page, [first, second] = model.recordings.map(s => s.header.files);
  if (state.tab in REPORT_COMMANDS) return ["heaprec", ...REPORT_COMMANDS[state.tab], ...first].map(quoted).join(" ");
  const words = ["heaprec"], range = side => `${timeOption(side.range[0])}..${timeOption(side.range[1])}`;
  if (sideB && !second) words.push("diff", "--window", range(sideA), range(sideB));
  else if (sideB) words.push("diff");
  else if (state.live) words.push("live", ...(state.age ? ["--min-age", timeOption(state.age)] : []));
  else words.push("top", ...(state.a ? ["--from", timeOption(sideA.range[0]), "--to", timeOption(sideA.range[1])] : []));
  if (state.tab in BY) words.push("--by", BY[state.tab]);
  const others = !sideB || !second ? [] : first.length > 1 || second.length > 1 ? ["--", ...second] : second;
  return [...words, ...filterOptions(page), ...first, ...others].map(quoted).join(" ");
}
