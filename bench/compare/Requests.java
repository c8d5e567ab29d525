import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.servlet.http.HttpSession;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * Tomcat on the loopback interface, and the clients that ask it: a fixed number of requests, by so many clients at once.
 * Usage: Requests REQUESTS CLIENTS FOLDER
 */
public class Requests {
    /** Keeps words in a session and answers with a sorted page of them. */
    static class Words extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            HttpSession session = request.getSession();
            @SuppressWarnings("unchecked")
            Map<String, Integer> words = (Map<String, Integer>) session.getAttribute("words");
            if (words == null) words = Collections.synchronizedMap(new TreeMap<>());
            for (String word : request.getParameter("words").split(" ")) words.merge(word, 1, Integer::sum);
            session.setAttribute("words", words);
            response.setContentType("text/html;charset=UTF-8");
            PrintWriter out = response.getWriter();
            out.printf("<h1>%d words for %s</h1><ul>", words.size(), request.getHeader("X-Client"));
            synchronized (words) {
                words.forEach((word, count) -> out.append("<li>").append(word).append(": ").append(count + "</li>"));
            }
            for (Enumeration<String> names = request.getHeaderNames(); names.hasMoreElements();) {
                String name = names.nextElement();
                out.println("<p>" + name + "=" + request.getHeader(name) + "</p>");
            }
            if (words.size() > 150) session.invalidate();
        }
    }

    static long ask(int port, int client, int requests) throws IOException {
        Random random = new Random(client);
        String cookie = null;
        long characters = 0;
        for (int i = 0; i < requests; i++) {
            List<String> words = new ArrayList<>();
            for (int k = 0; k < 12; k++) words.add("w" + random.nextInt(500));
            URL url = new URL("http", "127.0.0.1", port, "/words?words=" + String.join("+", words));
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            connection.setRequestProperty("X-Client", "client " + client);
            if (cookie != null) connection.setRequestProperty("Cookie", cookie);
            try (BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream(), "UTF-8"))) {
                for (String line = in.readLine(); line != null; line = in.readLine()) characters += line.length();
            }
            String given = connection.getHeaderField("Set-Cookie");
            if (given != null) cookie = given.split(";")[0];
        }
        return characters;
    }

    public static void main(String[] args) throws Exception {
        int requests = Integer.parseInt(args[0]), clients = Integer.parseInt(args[1]);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[2]);
        tomcat.setSilent(true);
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", new File(args[2]).getAbsolutePath());
        Tomcat.addServlet(context, "words", new Words());
        context.addServletMappingDecoded("/words", "words");
        tomcat.start();
        int port = connector.getLocalPort();
        List<Thread> threads = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            int own = client;
            threads.add(new Thread(() -> {
                try {
                    System.out.println(ask(port, own, requests / clients));
                } catch (IOException failed) {
                    failed.printStackTrace();
                    Runtime.getRuntime().halt(1);
                }
            }));
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        tomcat.stop();
        tomcat.destroy();
    }
}
