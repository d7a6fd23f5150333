import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** Allocates and collects, and prints the window and what the JVM's own beans have of it. */
public final class Oracle {
    private static Object kept;

    public static void main(String[] args) throws Exception {
        awaitReadings();
        long before = collections();
        long start = System.nanoTime();
        awaitReadings(); // At its edges nothing is allocated.
        for (int i = 0; i < 20_000; i++) {
            kept = new byte[10_000];
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        awaitReadings();
        long end = System.nanoTime();
        System.out.println("window " + start + " " + end);
        System.out.println("all " + (collections() - before));
        System.out.println("allocated " + 20_000L * 10_000);
        awaitReadings();
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    private static void awaitReadings() throws Exception {
        Path log = Path.of(System.getenv("RPCBENCH_RUNTIME_LOG"));
        for (int i = 0; i < 2; i++) {
            for (long size = Files.size(log); Files.size(log) == size; ) {
                Thread.sleep(1);
            }
        }
    }
}
