// HBase's own client at the work of benches/hbase.py: make TABLE ROWS | get|put|scan TABLE ROWS THREADS SECONDS.
// Prints operations a second and this process's CPU time for one, in microseconds; a scan is one of the whole table.

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.util.Bytes;

public class JavaClient {
  static final byte[] FAMILY = Bytes.toBytes("f"), QUALIFIER = Bytes.toBytes("p");

  static Put put(int n) {
    byte[] value = new byte[60];
    for (int at = 0; at < value.length; at++) value[at] = (byte) (at * 7 + n);
    return new Put(Bytes.toBytes(n)).addColumn(FAMILY, QUALIFIER, value);
  }

  interface Work { long once(Table table, int n) throws Exception; }

  static void run(Connection connection, TableName name, int rows, int threads, int seconds, Work work) throws Exception {
    OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long[] began = new long[2];
    LongAdder done = new LongAdder();
    for (int phase = 0; phase < 2; phase++) { // The first one warms up.
      done.reset();
      began[0] = System.nanoTime();
      began[1] = system.getProcessCpuTime();
      long until = began[0] + (phase == 0 ? Math.min(seconds, 4) : seconds) * 1_000_000_000L;
      List<Thread> all = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        Thread thread = new Thread(() -> {
          try (Table table = connection.getTable(name)) {
            while (System.nanoTime() < until) {
              work.once(table, ThreadLocalRandom.current().nextInt(rows));
              done.increment();
            }
          } catch (Exception e) { throw new RuntimeException(e); }
        });
        thread.start();
        all.add(thread);
      }
      for (Thread thread : all) thread.join();
    }
    double wall = (System.nanoTime() - began[0]) / 1e9, cpu = (system.getProcessCpuTime() - began[1]) / 1e3;
    System.out.printf("%.2f %.1f%n", done.sum() / wall, cpu / done.sum());
  }

  public static void main(String[] args) throws Exception {
    TableName name = TableName.valueOf(args[1]);
    int rows = Integer.parseInt(args[2]);
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create())) {
      if (args[0].equals("make")) {
        try (Admin admin = connection.getAdmin(); Table table = connection.getTable(name)) {
          if (admin.tableExists(name)) { admin.disableTable(name); admin.deleteTable(name); }
          admin.createTable(TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setDataBlockEncoding(DataBlockEncoding.FAST_DIFF).build()).build());
          List<Put> puts = new ArrayList<>();
          for (int n = 0; n < rows; n++) {
            puts.add(put(n));
            if (puts.size() == 1000) { table.put(puts); puts.clear(); }
          }
          table.put(puts);
        }
        return;
      }
      int threads = Integer.parseInt(args[3]), seconds = Integer.parseInt(args[4]);
      switch (args[0]) {
        case "get" -> run(connection, name, rows, threads, seconds, (table, n) -> table.get(new Get(Bytes.toBytes(n)).addFamily(FAMILY)).size());
        case "put" -> run(connection, name, rows, threads, seconds, (table, n) -> { table.put(put(n)); return 0; });
        case "scan" -> run(connection, name, rows, threads, seconds, (table, n) -> {
          long found = 0;
          try (ResultScanner scanner = table.getScanner(new Scan().addFamily(FAMILY).setCaching(5000).setCacheBlocks(false))) {
            for (Result row : scanner) found += row.size();
          }
          if (found != rows) throw new IllegalStateException(found + " rows of " + rows);
          return found;
        });
        default -> throw new IllegalArgumentException(args[0]);
      }
    }
  }
}
