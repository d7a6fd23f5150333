import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Writes the contract's runtime log to the file RPCBENCH_RUNTIME_LOG. Pauses come from the JVM's log, since beans report them only to
 * the millisecond.
 */
public final class RuntimeLog {
    /** Time between readings of the heap. */
    private static final long READING_INTERVAL_MILLIS = 50;

    private final long pid = ProcessHandle.current().pid();
    private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    private final MethodHandle allocated = allocatedBytes();
    private final FileInputStream log;
    private final FileOutputStream out;
    /** Text of the log that has been read but not processed: part of a line. */
    private final StringBuilder rest = new StringBuilder();
    private final StringBuilder lines = new StringBuilder();
    private final byte[] buffer = new byte[8192];

    private RuntimeLog(String log, String out) throws IOException {
        this.log = new FileInputStream(log);
        this.out = new FileOutputStream(out, true);
    }

    /** Called before the program's main. {@code log} is the JVM's log, each line with its monotonic time. */
    public static void premain(String log) throws IOException {
        RuntimeLog runtimeLog = new RuntimeLog(log, System.getenv("RPCBENCH_RUNTIME_LOG"));
        runtimeLog.lines.append(runtimeLog.pid).append(" begin ").append(System.nanoTime()).append('\n');
        Thread thread = new Thread(runtimeLog::write, "runtime log");
        thread.setDaemon(true);
        thread.start();
    }

    private void write() {
        try {
            while (true) {
                // Before the log is read, which then has all pauses that ended by this instant.
                long now = System.nanoTime();
                readLog();
                lines.append(pid).append(" reading ").append(now).append(' ').append(memory.getHeapMemoryUsage().getUsed());
                lines.append(' ').append(allocated == null ? "-" : Long.toString((long) allocated.invoke())).append('\n');
                out.write(lines.toString().getBytes(StandardCharsets.ISO_8859_1));
                lines.setLength(0);
                Thread.sleep(READING_INTERVAL_MILLIS);
            }
        } catch (Throwable error) {
            System.err.println("runtime log: " + error);
        }
    }

    private void readLog() throws IOException {
        for (int length; (length = log.read(buffer)) > 0; ) {
            rest.append(new String(buffer, 0, length, StandardCharsets.ISO_8859_1));
        }
        for (int end; (end = rest.indexOf("\n")) >= 0; rest.delete(0, end + 1)) {
            pause(rest.substring(0, end));
        }
    }

    /**
     * Adds the pause in a line, if it has one: {@code [123ns] GC(7) Pause Young (Normal) (G1 Evacuation Pause)
     * 25M->4M(256M) 2.345ms}; of ZGC {@code [123ns] GC(7) Y: Pause Mark Start 0.012ms}.
     */
    private void pause(String line) {
        String[] words = line.split(" +");
        int at = 2;
        if (words.length > at && words[at].endsWith(":")) {
            at++;
        }
        String last = words[words.length - 1];
        if (words.length < at + 3 || !words[at].equals("Pause") || !last.endsWith("ms")) {
            return;
        }
        StringBuilder kind = new StringBuilder(at == 2 ? "" : words[2].equals("O:") ? "old" : "young");
        String heap = "-";
        for (int i = at + 1; i < words.length - 1; i++) {
            int arrow = words[i].indexOf("->");
            if (arrow > 0) {
                heap = Long.toString(bytes(words[i].substring(0, arrow)));
            }
        }
        for (int i = at + 1; i < words.length - 1 && Character.isLetter(words[i].charAt(0)); i++) {
            kind.append(kind.length() == 0 ? "" : "-").append(words[i].toLowerCase(Locale.ROOT));
        }
        String end = words[0].substring(1, words[0].length() - 3);
        long length = Math.round(Double.parseDouble(last.substring(0, last.length() - 2)) * 1e6);
        lines.append(pid).append(" pause ").append(end).append(' ').append(length);
        lines.append(' ').append(kind).append(' ').append(heap).append('\n');
    }

    /** {@code 25M} in bytes. */
    private static long bytes(String text) {
        int digits = text.length() - 1;
        int shift = switch (text.charAt(digits)) {
            case 'K' -> 10;
            case 'M' -> 20;
            case 'G' -> 30;
            default -> 0;
        };
        return Long.parseLong(text.substring(0, shift == 0 ? digits + 1 : digits).replace("B", "")) << shift;
    }

    /** Bytes allocated since the start, including ended threads. Null before JDK 21, which lacks this sum. */
    private static MethodHandle allocatedBytes() {
        try {
            Class<?> bean = Class.forName("com.sun.management.ThreadMXBean");
            MethodType type = MethodType.methodType(long.class);
            MethodHandle sum = MethodHandles.publicLookup().findVirtual(bean, "getTotalThreadAllocatedBytes", type);
            return sum.bindTo(ManagementFactory.getThreadMXBean());
        } catch (ReflectiveOperationException error) {
            return null;
        }
    }
}
