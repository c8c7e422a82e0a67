import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.*;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.filter.SingleColumnValueFilter;
import org.apache.hadoop.hbase.util.Bytes;

/** A program that has tables of its own in HBase. Arguments: what is done, a table, and what it is done with. */
public class Others {
  static final byte[] INFO = Bytes.toBytes("info"), STATS = Bytes.toBytes("stats");

  public static void main(String[] args) throws Exception {
    TableName name = TableName.valueOf(args[1]);
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create()); Admin admin = connection.getAdmin(); Table table = connection.getTable(name)) {
      switch (args[0]) {
        case "create" -> {
          if (!name.getNamespaceAsString().equals("default") && !Arrays.asList(admin.listNamespaces()).contains(name.getNamespaceAsString())) {
            admin.createNamespace(NamespaceDescriptor.create(name.getNamespaceAsString()).build());
          }
          TableDescriptorBuilder made = TableDescriptorBuilder.newBuilder(name)
              .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(INFO).setMaxVersions(3).build()).setColumnFamily(ColumnFamilyDescriptorBuilder.of(STATS));
          byte[][] splits = new byte[args.length - 2][];
          for (int i = 2; i < args.length; i++) splits[i - 2] = Bytes.toBytes(Long.parseLong(args[i]));
          if (splits.length == 0) admin.createTable(made.build()); else admin.createTable(made.build(), splits);
        }
        case "load" -> {
          long from = Long.parseLong(args[2]), to = Long.parseLong(args[3]);
          List<Put> puts = new ArrayList<>();
          for (long id = from; id < to; id++) {
            Put put = new Put(Bytes.toBytes(id)).addColumn(INFO, Bytes.toBytes("name"), Bytes.toBytes("name " + id))
                .addColumn(STATS, Bytes.toBytes("score"), Bytes.toBytes(id / 4.0));
            if (id % 5 != 0) put.addColumn(INFO, Bytes.toBytes("age"), Bytes.toBytes((int) (id % 90)));
            puts.add(put);
          }
          table.put(puts);
        }
        case "put" -> table.put(new Put(Bytes.toBytes(Long.parseLong(args[2]))).addColumn(Bytes.toBytes(args[3]), Bytes.toBytes(args[4]), Bytes.toBytesBinary(args[5])));
        case "delete" -> table.delete(new Delete(Bytes.toBytes(Long.parseLong(args[2]))));
        case "scan" -> {
          Scan scan = new Scan().withStartRow(Bytes.toBytes(Long.parseLong(args[2]))).withStopRow(Bytes.toBytes(Long.parseLong(args[3])));
          try (ResultScanner rows = table.getScanner(scan)) {
            for (Result row : rows) for (Cell cell : row.rawCells()) {
              System.out.println(Bytes.toLong(row.getRow()) + "\t" + Bytes.toString(CellUtil.cloneFamily(cell)) + ":" + Bytes.toString(CellUtil.cloneQualifier(cell)) + "\t" + Bytes.toStringBinary(CellUtil.cloneValue(cell)));
            }
          }
        }
        // The tables of a namespace.
        case "tables" -> {
          for (TableName one : admin.listTableNamesByNamespace(args[2])) System.out.println("\t" + one + "\t");
        }
        // Columns of a row as HBase's own conversions read them: family:qualifier:type.
        case "columns" -> {
          Get get = new Get(Bytes.toBytes(Long.parseLong(args[2])));
          for (int i = 3; i < args.length; i++) get.addColumn(Bytes.toBytes(args[i].split(":")[0]), Bytes.toBytes(args[i].split(":")[1]));
          Result row = table.get(get);
          for (int i = 3; i < args.length; i++) {
            String[] column = args[i].split(":");
            byte[] value = row.getValue(Bytes.toBytes(column[0]), Bytes.toBytes(column[1]));
            System.out.println(column[0] + "\t" + column[1] + "\t" + (value == null ? "no cell" : switch (column[2]) {
              case "short" -> "" + Bytes.toShort(value);
              case "int" -> "" + Bytes.toInt(value);
              case "long" -> "" + Bytes.toLong(value);
              case "float" -> "" + Bytes.toFloat(value);
              case "double" -> "" + Bytes.toDouble(value);
              case "boolean" -> "" + Bytes.toBoolean(value);
              case "string" -> Bytes.toString(value);
              default -> Bytes.toStringBinary(value);
            }));
          }
        }
        // Ids of the rows in which a column has a value, found by HBase's own filter.
        case "find" -> {
          Scan scan = new Scan().addColumn(Bytes.toBytes(args[2]), Bytes.toBytes(args[3])).setFilter(new SingleColumnValueFilter(
              Bytes.toBytes(args[2]), Bytes.toBytes(args[3]), CompareOperator.EQUAL, Bytes.toBytes(Integer.parseInt(args[4]))));
          try (ResultScanner rows = table.getScanner(scan)) {
            for (Result row : rows) System.out.println(Bytes.toLong(row.getRow()) + "\t\t");
          }
        }
        default -> throw new IllegalArgumentException(args[0]);
      }
    }
  }
}
