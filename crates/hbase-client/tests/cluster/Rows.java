// What HBase's own client writes and reads: rows of a given shape. write|check|thin TABLE COUNT.

import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import java.util.ArrayList;
import java.util.List;

public class Rows {
  static byte[] value(int n, int salt) {
    byte[] value = new byte[n % 50];
    for (int at = 0; at < value.length; at++) value[at] = (byte) ((at * salt + n) % 256);
    return value;
  }

  static Put put(int n) {
    Put put = new Put(Bytes.toBytes(String.format("%05d", n)));
    put.addColumn(Bytes.toBytes("f"), Bytes.toBytes("q" + n % 7), 1000 + n, value(n, 3));
    if (n % 3 == 0) put.addColumn(Bytes.toBytes("g"), Bytes.toBytes("z"), 5, value(n, 5));
    return put;
  }

  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[2]);
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Table table = connection.getTable(TableName.valueOf(args[1]))) {
      switch (args[0]) {
        case "write": {
          List<Put> puts = new ArrayList<>();
          for (int n = 0; n < count; n++) puts.add(put(n));
          table.put(puts);
          System.out.println("written " + count);
          break;
        }
        case "check": {
          int n = 0;
          try (ResultScanner rows = table.getScanner(new Scan())) {
            for (Result row : rows) {
              Put expected = put(n);
              List<Cell> cells = new ArrayList<>();
              expected.getFamilyCellMap().values().forEach(cells::addAll);
              Cell[] found = row.rawCells();
              if (found.length != cells.size()) throw new AssertionError("row " + n + ": " + found.length + " cells");
              for (int at = 0; at < found.length; at++) {
                if (!CellUtil.equals(found[at], cells.get(at)) || !CellUtil.matchingValue(found[at], cells.get(at)))
                  throw new AssertionError("row " + n + ": " + found[at]);
              }
              n++;
            }
          }
          System.out.println("equal " + n);
          break;
        }
        case "thin": {
          List<Delete> deletes = new ArrayList<>();
          for (int n = 0; n < count; n += 2) deletes.add(new Delete(Bytes.toBytes(String.format("%05d", n))));
          int deleted = deletes.size();
          table.delete(deletes);
          System.out.println("deleted " + deleted);
          break;
        }
        default:
          throw new IllegalArgumentException(args[0]);
      }
    }
    System.exit(0);
  }
}
