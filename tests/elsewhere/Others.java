import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.*;
import org.apache.hadoop.hbase.client.*;
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
        default -> throw new IllegalArgumentException(args[0]);
      }
    }
  }
}
