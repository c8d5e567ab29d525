package heaprec;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;

/**
 * The agent and the command for this platform: at a path that a property names, extracted from heaprec.jar, or
 * installed beside it.
 *
 * <p>Files are extracted into a folder that only this user can write to, under a name that follows from the content,
 * and are used again. What is extracted must have the SHA-256 that the jar names; of a file that is used again the
 * CRC-32 is compared, which finds damage at a tenth of the time. If no such folder can be made, a temporary folder with
 * a random name takes its place until the JVM exits.
 */
final class NativeFiles {
    static final String AGENT = "libheaprec.so", COMMAND = "heaprec";
    /** Names libheaprec.so, or a folder with libheaprec.so and heaprec. */
    static final String READY_PROPERTY = "heaprec.native";
    /** Names a folder to extract to. */
    static final String CACHE_PROPERTY = "heaprec.cache";

    /** A line for each file: its SHA-256, its CRC-32, its name. */
    private static final String LIST = "FILES";
    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private NativeFiles() {}

    /** Does something with a file, or throws if the file cannot be used from where it lies. */
    interface Use {
        void use(Path file) throws IOException;
    }

    /**
     * Passes each place of a file to {@code use} until it can be used.
     *
     * @param name {@link #AGENT} or {@link #COMMAND}
     * @throws IOException with the reason for each place
     */
    static void find(String name, Use use) throws IOException {
        String ready = System.getProperty(READY_PROPERTY);
        if (ready != null) {
            Path path = Paths.get(ready).toAbsolutePath();
            Path file = Files.isDirectory(path) ? path.resolve(name) : name.equals(AGENT) ? path : path.resolveSibling(name);
            if (!Files.isRegularFile(file)) throw new IOException(file + ": no such file (named by -D" + READY_PROPERTY + ")");
            use.use(file);
            return;
        }
        List<String> failures = new ArrayList<>();
        Map<String, Sums> sums = sums();
        if (!sums.containsKey(name)) {
            Path installed = installed(name);
            if (installed == null) {
                throw new IOException("there is no " + name + " for " + Platform.name() + " in " + describeJar()
                        + " or beside it; name one with -D" + READY_PROPERTY + "=PATH");
            }
            use.use(installed);
            return;
        }
        String cache = System.getProperty(CACHE_PROPERTY);
        for (Path base : cache != null ? new Path[] {Paths.get(cache).toAbsolutePath()} : usualFolders()) {
            if (tryToUse(base, name, sums, use, failures)) return;
        }
        throw new IOException(String.join("; ", failures) + "; name a private folder with -D" + CACHE_PROPERTY
                + "=DIR, or files that are ready with -D" + READY_PROPERTY + "=PATH");
    }

    // `base` null: a temporary folder.
    private static boolean tryToUse(Path base, String name, Map<String, Sums> sums, Use use, List<String> failures)
            throws IOException {
        Path folder = null;
        try {
            if (base == null) {
                folder = Files.createTempDirectory("heaprec", PRIVATE);
                folder.toFile().deleteOnExit(); // after its files: what is registered last is deleted first
            } else {
                folder = privateFolder(base.resolve(contentName(sums)));
            }
            // The command looks for the agent beside itself.
            for (String each : name.equals(COMMAND) ? new String[] {AGENT, COMMAND} : new String[] {AGENT}) {
                Path file = extract(folder, each, sums.get(each));
                if (base == null) file.toFile().deleteOnExit();
            }
        } catch (DamagedJarException e) {
            throw e;
        } catch (IOException e) {
            failures.add(reason(folder != null ? folder : base != null ? base : Paths.get(System.getProperty("java.io.tmpdir")), e));
            return false;
        }
        try {
            use.use(folder.resolve(name));
            return true;
        } catch (IOException e) {
            failures.add(isNoexec(folder) ? folder + ": the file system is mounted noexec" : reason(folder, e));
            return false;
        }
    }

    private static String reason(Path at, IOException e) {
        String why = e.getMessage();
        if (e instanceof AccessDeniedException) {
            why = e.getMessage() + ": permission denied";
        } else if (e instanceof NoSuchFileException) {
            why = e.getMessage() + ": cannot be created";
        } else if (e instanceof FileAlreadyExistsException) {
            why = e.getMessage() + ": is not a folder";
        }
        return why != null && why.contains(at.toString()) ? why : at + ": " + why;
    }

    private static Path[] usualFolders() {
        String variable = System.getenv("XDG_CACHE_HOME");
        String home = System.getProperty("user.home", "");
        Path caches = null;
        if (variable != null && variable.startsWith("/")) {
            caches = Paths.get(variable);
        } else if (home.startsWith("/")) {
            caches = Paths.get(home, ".cache");
        }
        return caches != null ? new Path[] {caches.resolve("heaprec"), null} : new Path[] {null};
    }

    /** Other content has another name: versions do not disturb each other. */
    private static String contentName(Map<String, Sums> sums) {
        StringBuilder text = new StringBuilder(Platform.name());
        for (Sums each : sums.values()) text.append('-').append(each.sha256, 0, 16);
        return text.toString();
    }

    /** Creates the folder, and those above it. Refuses one that others can write to, and one that is a link. */
    private static Path privateFolder(Path folder) throws IOException {
        Path parent = folder.getParent();
        if (!Files.isDirectory(parent)) Files.createDirectories(parent, PRIVATE);
        try {
            Files.createDirectory(folder, PRIVATE);
        } catch (FileAlreadyExistsException e) {
            // checked below, whoever made it
        } catch (IOException e) {
            if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) throw e;
        }
        Map<String, Object> facts = Files.readAttributes(folder, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS);
        if (!(Boolean) facts.get("isDirectory")) throw new IOException(folder + ": is not a folder");
        int uid = (Integer) facts.get("uid"), mine = uid();
        if (uid != mine) throw new IOException(folder + ": belongs to user " + uid + ", not to " + mine);
        if (((Integer) facts.get("mode") & 022) != 0) throw new IOException(folder + ": other users can write to it");
        return folder;
    }

    private static int uid() throws IOException {
        return (Integer) Files.getAttribute(Paths.get("/proc/self"), "unix:uid");
    }

    private static Path extract(Path folder, String name, Sums sums) throws IOException {
        Path file = folder.resolve(name);
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && crcOf(file) == sums.crc32) return file;
        Path written = Files.createTempFile(folder, name, null, PRIVATE);
        try {
            MessageDigest digest = sha256();
            try (InputStream in = resource(name);
                    FileChannel channel = FileChannel.open(written, StandardOpenOption.WRITE);
                    OutputStream out = Channels.newOutputStream(channel)) {
                byte[] buffer = new byte[1 << 16];
                for (int read = in.read(buffer); read > 0; read = in.read(buffer)) {
                    digest.update(buffer, 0, read);
                    out.write(buffer, 0, read);
                }
                channel.force(true);
            }
            String found = hex(digest.digest());
            if (!found.equals(sums.sha256)) {
                throw new DamagedJarException(describeJar() + " is damaged: the SHA-256 of its " + name + " is " + found
                        + ", not " + sums.sha256);
            }
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return file;
        } finally {
            Files.deleteIfExists(written);
        }
    }

    private static final class DamagedJarException extends IOException {
        private static final long serialVersionUID = 1;

        DamagedJarException(String why) {
            super(why);
        }
    }

    private static InputStream resource(String name) throws IOException {
        InputStream found = NativeFiles.class.getResourceAsStream("native/" + Platform.name() + "/" + name);
        if (found == null) throw new DamagedJarException(describeJar() + " is damaged: it has no " + name);
        return found;
    }

    private static final class Sums {
        final String sha256;
        final long crc32;

        Sums(String sha256, String crc32) {
            this.sha256 = sha256;
            this.crc32 = Long.parseLong(crc32, 16);
        }
    }

    /** By name; empty if this jar has no files for this platform. */
    private static Map<String, Sums> sums() throws IOException {
        Map<String, Sums> sums = new LinkedHashMap<>();
        InputStream found = NativeFiles.class.getResourceAsStream("native/" + Platform.name() + "/" + LIST);
        if (found == null) return sums;
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(found, StandardCharsets.US_ASCII))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] parts = line.split(" ");
                sums.put(parts[2], new Sums(parts[0], parts[1]));
            }
        }
        return sums;
    }

    /** As in an installation (lib/heaprec, bin) and in a build (java, recorder, tools); null if there is none. */
    private static Path installed(String name) throws IOException {
        Path jar = jar();
        if (jar == null || !Files.exists(jar)) return null;
        jar = jar.toRealPath(); // distributions link to jars
        for (String folder : new String[] {".", "../recorder", "../tools", "../../bin"}) {
            Path file = jar.getParent().resolve(folder).resolve(name).normalize();
            if (Files.isRegularFile(file)) return file;
        }
        return null;
    }

    /** The jar, or the folder, that this class is from; null if it is not from a file. */
    static Path jar() {
        try {
            return Paths.get(NativeFiles.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException | RuntimeException e) {
            return null;
        }
    }

    private static String describeJar() {
        Path jar = jar();
        return jar != null ? jar.toString() : "heaprec.jar";
    }

    private static long crcOf(Path file) throws IOException {
        CRC32 crc = new CRC32();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            crc.update(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
        }
        return crc.getValue();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every JDK has it
        }
    }

    private static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte each : bytes) text.append(Character.forDigit(each >> 4 & 15, 16)).append(Character.forDigit(each & 15, 16));
        return text.toString();
    }

    private static boolean isNoexec(Path folder) {
        String options = "";
        int longest = -1;
        try {
            for (String line : Files.readAllLines(Paths.get("/proc/self/mounts"), StandardCharsets.ISO_8859_1)) {
                String[] fields = line.split(" ");
                if (fields.length < 4 || fields[1].length() < longest || !folder.startsWith(fields[1])) continue;
                longest = fields[1].length();
                options = fields[3];
            }
        } catch (IOException | RuntimeException e) {
            return false;
        }
        return ("," + options + ",").contains(",noexec,");
    }
}
