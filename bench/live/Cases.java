import java.beans.PropertyChangeSupport;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.servlet.http.HttpSession;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * Five programs that keep what they do not need. Usage: Cases CASE SECONDS FOLDER. Works for so long, says "ready", and waits for a line.
 *
 * <p>CASE: sessions, cache, redeploy, pool or listener.
 */
public final class Cases {
    /** What a visitor has put into the cart. */
    static final class Item {
        final String name;
        final byte[] picture = new byte[400];

        Item(int i) {
            name = "item " + i;
        }
    }

    /** A session for each request, because the client sends no cookie; and sessions do not end. */
    public static final class Shop extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            HttpSession session = request.getSession();
            session.setMaxInactiveInterval(-1);
            List<Item> cart = new ArrayList<>();
            for (int i = 0; i < 20; ++i) {
                cart.add(new Item(i));
            }
            session.setAttribute("cart", cart);
            response.getWriter().println(cart.size());
        }
    }

    static Tomcat tomcat(String folder) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder);
        tomcat.setSilent(true);
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
        tomcat.setConnector(connector);
        return tomcat;
    }

    static void ask(Tomcat tomcat, String path) throws IOException {
        URL url = new URL("http", "127.0.0.1", tomcat.getConnector().getLocalPort(), path);
        try (InputStream in = url.openConnection().getInputStream()) {
            in.readAllBytes();
        }
    }

    static void sessions(long until, String folder) throws Exception {
        Tomcat tomcat = tomcat(folder);
        Context context = tomcat.addContext("", new File(folder).getAbsolutePath());
        Tomcat.addServlet(context, "shop", new Shop());
        context.addServletMappingDecoded("/shop", "shop");
        tomcat.start();
        while (System.nanoTime() < until) {
            ask(tomcat, "/shop");
            Thread.sleep(1);
        }
    }

    /** Pages of a table stay in the cache, which may take 400 MB. */
    static void cache(long until, String folder) throws Exception {
        Statement statement = DriverManager.getConnection("jdbc:h2:" + folder + "/shop;CACHE_SIZE=400000", "sa", "").createStatement();
        statement.execute("CREATE TABLE item(id INT PRIMARY KEY, name VARCHAR, picture VARBINARY)");
        PreparedStatement insert = statement.getConnection().prepareStatement("INSERT INTO item VALUES(?, ?, ?)");
        for (int i = 0; System.nanoTime() < until; ++i) {
            insert.setInt(1, i);
            insert.setString(2, "item " + i);
            insert.setBytes(3, new byte[1000]);
            insert.execute();
            if (i % 10 == 0) {
                Thread.sleep(1);
            }
        }
        statement.execute("CHECKPOINT");
    }

    /** Is loaded by each application anew; its hook stays in the JVM. */
    public static final class Application extends HttpServlet {
        static final Map<Integer, byte[]> PRICES = new HashMap<>();

        @Override
        public void init() {
            for (int i = 0; i < 2000; ++i) {
                PRICES.put(i, new byte[1000]);
            }
            Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(PRICES.size())));
        }

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getWriter().println(PRICES.size());
        }
    }

    static void redeploy(long until, String folder) throws Exception {
        Path classes = Files.createDirectories(Path.of(folder, "shop", "WEB-INF", "classes"));
        Files.copy(Path.of(folder, "Cases$Application.class"), classes.resolve("Cases$Application.class"));
        Files.delete(Path.of(folder, "Cases$Application.class"));
        Tomcat tomcat = tomcat(folder);
        tomcat.start();
        while (System.nanoTime() < until) {
            Context context = tomcat.addWebapp("/shop", new File(folder, "shop").getAbsolutePath());
            Tomcat.addServlet(context, "application", "Cases$Application");
            context.addServletMappingDecoded("/prices", "application");
            ask(tomcat, "/shop/prices");
            tomcat.getHost().removeChild(context);
            context.destroy();
            Thread.sleep(100);
        }
    }

    static final ThreadLocal<List<byte[]>> SEEN = ThreadLocal.withInitial(ArrayList::new);

    /** Each thread of a pool of 100 keeps what it has seen. */
    static void pool(long until) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(100);
        while (System.nanoTime() < until) {
            pool.submit(() -> SEEN.get().add(new byte[2000]));
            Thread.sleep(0, 100_000);
        }
    }

    /** What views show. */
    static final class Model {
        static final Model SHARED = new Model();
        final PropertyChangeSupport changes = new PropertyChangeSupport(this);
    }

    /** Is told of changes, also after it was closed. */
    static final class View {
        final List<byte[]> lines = new ArrayList<>();

        View() {
            for (int i = 0; i < 20; ++i) {
                lines.add(new byte[500]);
            }
            Model.SHARED.changes.addPropertyChangeListener(event -> lines.clear());
        }
    }

    static Object sink;

    static void listener(long until) throws Exception {
        while (System.nanoTime() < until) {
            sink = new View();
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000;
        Thread garbage = new Thread(() -> {
            while (System.nanoTime() < until) {
                for (int i = 0; i < 50; ++i) {
                    sink = new byte[2000];
                }
                LockSupport.parkNanos(1_000_000);
            }
        }, "garbage");
        garbage.setDaemon(true);
        garbage.start();
        switch (args[0]) {
            case "sessions" -> sessions(until, args[2]);
            case "cache" -> cache(until, args[2]);
            case "redeploy" -> redeploy(until, args[2]);
            case "pool" -> pool(until);
            case "listener" -> listener(until);
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("ready");
        System.in.read();
        System.exit(0);
    }
}
