package dev.rpcbench.client;

import com.google.gson.JsonObject;
import dev.rpcbench.client.Library.Connections;
import dev.rpcbench.client.Library.Target;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The connections and encoded requests between {@code open} and {@code close}. */
final class Load<C> {
  final Library<C> library;
  final List<Slot<C>> slots;
  final Target target;
  private final Method<C, ?, ?> method;
  private final List<byte[]> requests;
  private final List<Connection<C>> connections = new ArrayList<>();

  Load(Library<C> library, JsonObject message) throws Exception {
    this.library = library;
    var shape = message.get("shape").getAsString();
    method = library.methods().get(shape);
    if (method == null) {
      throw new IOException("unknown shape '" + shape + "'");
    }
    int inFlight = message.get("in_flight").getAsInt();
    target =
        new Target(
            message.get("target").getAsString(),
            message.get("connections").getAsInt(),
            message.get("timeout_ns").getAsLong(),
            message.get("calls_per_connection").getAsInt());
    if (target.connections() < 1 || inFlight < 1 || target.timeoutNanos() < 1) {
      throw new IOException("connections, in_flight and timeout_ns must be 1 or more");
    }
    if (library.connections() != Connections.MULTIPLEXED && inFlight > 1) {
      var text = "in_flight is %d, but a connection of %s makes one call at a time";
      throw new IOException(text.formatted(inFlight, library.name()));
    }
    requests = readRequests(message.get("requests").getAsString());
    for (int i = 0; i < (isPool() ? 1 : target.connections()); i++) {
      connections.add(new Connection<>(library, target));
    }
    slots = newSlots(target.connections() * inFlight);
  }

  /** Divides the requests among slots. With fewer requests than slots, several slots share one. */
  List<Slot<C>> newSlots(int number) throws Exception {
    var slots = new ArrayList<Slot<C>>(number);
    for (int slot = 0; slot < number; slot++) {
      var own = new ArrayList<byte[]>();
      for (int i = slot % requests.size(); i < requests.size(); i += number) {
        own.add(requests.get(i));
      }
      var connection = connections.get(slot % connections.size());
      slots.add(new Slot<>(slot, connection, method.caller(own, library.outcomes())));
    }
    return slots;
  }

  private boolean isPool() {
    return library.connections() == Connections.POOLED;
  }

  void open() throws IOException, InterruptedException {
    var clients = new ArrayList<C>();
    for (var connection : connections) {
      clients.add(connection.open());
    }
    for (var client : clients) {
      library.connector().await(client);
    }
  }

  /** The number of open connections; 0 if a pool opens them with its first calls. */
  int opened() {
    return isPool() ? 0 : connections.size();
  }

  void close() {
    connections.forEach(Connection::close);
  }

  /** Reads a file of requests, each preceded by its length. */
  private static List<byte[]> readRequests(String path) throws IOException {
    var file = ByteBuffer.wrap(Files.readAllBytes(Path.of(path))).order(ByteOrder.LITTLE_ENDIAN);
    var requests = new ArrayList<byte[]>();
    while (file.hasRemaining()) {
      int length = file.remaining() < 4 ? -1 : file.getInt();
      if (length < 0 || length > file.remaining()) {
        throw new IOException(path + ": request " + requests.size() + " is cut short");
      }
      var request = new byte[length];
      file.get(request);
      requests.add(request);
    }
    if (requests.isEmpty()) {
      throw new IOException(path + ": no requests");
    }
    return requests;
  }

  /** Reads a file of due times. */
  static long[] readSchedule(String path) throws IOException {
    var file = ByteBuffer.wrap(Files.readAllBytes(Path.of(path))).order(ByteOrder.LITTLE_ENDIAN);
    var schedule = new long[file.remaining() / Long.BYTES];
    file.asLongBuffer().get(schedule);
    return schedule;
  }
}
