// Apache Phoenix at the work of benches/hbase.py: URL make ROWS | URL WORK ROWS THREADS SECONDS, where WORK is a name of WORK below.
// Each thread has a connection and a prepared statement, and commits each statement. Prints operations a second and this process's CPU
// time for one, in microseconds; `make` prints the seconds in which the index of all rows was built.

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

public class PhoenixClient {
  static final String FILLER = "a filler of about forty bytes, as it is";
  static final Map<String, String> WORK = Map.of(
      "point select", "SELECT balance FROM account WHERE aid = ?",
      "select by index", "SELECT /*+ INDEX(account account_code) */ balance FROM account WHERE code = ?",
      "upsert", "UPSERT INTO plain VALUES (?, ?, 1, '" + FILLER + "')",
      "upsert with an index", "UPSERT INTO account VALUES (?, ?, 1, '" + FILLER + "')",
      "count(*)", "SELECT count(*) FROM scanned",
      "sum over all rows", "SELECT sum(balance), max(filler) FROM scanned");

  static void fill(Connection connection, String table, int rows) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement put = connection.prepareStatement("UPSERT INTO " + table + " VALUES (?, ?, 0, '" + FILLER + "')")) {
      for (int n = 1; n <= rows; n++) {
        put.setInt(1, n);
        put.setString(2, "c" + n);
        put.executeUpdate();
        if (n % 1000 == 0) connection.commit();
      }
    }
    connection.commit();
    connection.setAutoCommit(true);
  }

  static void make(Connection connection, int rows) throws SQLException {
    String columns = " (aid INTEGER NOT NULL PRIMARY KEY, code VARCHAR, balance INTEGER, filler VARCHAR)";
    try (Statement statement = connection.createStatement()) {
      for (String table : List.of("account", "plain", "scanned")) {
        statement.execute("DROP TABLE IF EXISTS " + table + " CASCADE");
        statement.execute("CREATE TABLE " + table + columns);
      }
      fill(connection, "account", rows);
      fill(connection, "scanned", rows);
      long began = System.nanoTime();
      statement.execute("CREATE INDEX account_code ON account (code)");
      System.out.printf("%.2f%n", (System.nanoTime() - began) / 1e9);
      for (String table : List.of("account", "scanned")) statement.execute("UPDATE STATISTICS " + table);
    }
  }

  static void once(PreparedStatement statement, String work, int rows) throws SQLException {
    int n = ThreadLocalRandom.current().nextInt(rows) + 1;
    switch (work) {
      case "point select" -> statement.setInt(1, n);
      case "select by index" -> statement.setString(1, "c" + n);
      case "upsert", "upsert with an index" -> { statement.setInt(1, n); statement.setString(2, "c" + n); }
      default -> { }
    }
    if (work.startsWith("upsert")) { statement.executeUpdate(); return; }
    try (ResultSet found = statement.executeQuery()) {
      if (!found.next() || work.equals("count(*)") && found.getLong(1) != rows) throw new IllegalStateException(work + ": another answer");
    }
  }

  static void run(String url, String work, int rows, int threads, int seconds) throws Exception {
    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    AtomicReference<Exception> failed = new AtomicReference<>();
    LongAdder done = new LongAdder();
    long began = 0, used = 0;
    for (int phase = 0; phase < 2; phase++) { // The first one warms up.
      done.reset();
      began = System.nanoTime();
      used = system.getProcessCpuTime();
      long until = began + (phase == 0 ? Math.min(seconds, 8) : seconds) * 1_000_000_000L;
      List<Thread> all = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        Thread thread = new Thread(() -> {
          try (Connection connection = DriverManager.getConnection(url)) {
            connection.setAutoCommit(true);
            try (PreparedStatement statement = connection.prepareStatement(WORK.get(work))) {
              while (System.nanoTime() < until) {
                once(statement, work, rows);
                done.increment();
              }
            }
          } catch (Exception e) { failed.set(e); }
        });
        thread.start();
        all.add(thread);
      }
      for (Thread thread : all) thread.join();
      if (failed.get() != null) throw failed.get();
    }
    double wall = (System.nanoTime() - began) / 1e9, cpu = (system.getProcessCpuTime() - used) / 1e3;
    System.out.printf("%.2f %.1f%n", done.sum() / wall, cpu / done.sum());
  }

  public static void main(String[] args) throws Exception {
    int rows = Integer.parseInt(args[2]);
    if (args[1].equals("make")) {
      try (Connection connection = DriverManager.getConnection(args[0])) { make(connection, rows); }
    } else run(args[0], args[1], rows, Integer.parseInt(args[3]), Integer.parseInt(args[4]));
    System.exit(0); // Phoenix's threads would keep the process.
  }
}
