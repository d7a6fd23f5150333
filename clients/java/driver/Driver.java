package dev.rpcbench.client;

import com.google.gson.JsonObject;
import java.io.EOFException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;

/** Shared by the client programs in Java: everything in contract/clients.md except the calls. */
public final class Driver<C> {
  private static final String CHECKS =
      "text: the whole string; others: the field with the nonce, and on every 16th call the whole"
          + " message";

  private final String language;
  private final Library<C> library;
  private final Wire wire;
  private Load<C> load;
  // The run in progress, if any.
  private volatile Run<C> run;

  private Driver(String language, Library<C> library, Wire wire) {
    this.language = language;
    this.library = library;
    this.wire = wire;
  }

  /** Executes rpcbench's commands until it closes the socket or sends SIGTERM. */
  public static <C> void run(Library<C> library) throws IOException {
    run("Java", library);
  }

  /** The same for another language of the JVM. */
  public static <C> void run(String language, Library<C> library) throws IOException {
    var path = System.getenv("RPCBENCH_SOCKET");
    if (path == null) {
      System.err.println("RPCBENCH_SOCKET is not set; rpcbench starts this program");
      System.exit(1);
    }
    var socket = SocketChannel.open(UnixDomainSocketAddress.of(path));
    var driver = new Driver<>(language, library, new Wire(socket));
    driver.greet();
    try {
      driver.serve();
    } catch (EOFException closed) {
      Runtime.getRuntime().halt(0);
    }
  }

  private static JsonObject message(String type) {
    var message = new JsonObject();
    message.addProperty("type", type);
    return message;
  }

  private void greet() {
    var hello = message("hello");
    hello.addProperty("version", 1);
    hello.addProperty("language", language);
    hello.addProperty("library", library.name());
    hello.addProperty("library_version", library.version());
    hello.addProperty("runtime", System.getProperty("java.vm.name") + " " + Runtime.version());
    hello.addProperty("checks", CHECKS);
    hello.addProperty("clock_ns", System.nanoTime());
    wire.send(hello);
  }

  private void serve() throws IOException {
    while (true) {
      var message = wire.read();
      long received = System.nanoTime();
      var type = message.get("type").getAsString();
      if (type.equals("start") || type.equals("stop")) {
        var ack = message("ack");
        ack.addProperty("of", type);
        ack.addProperty("received_ns", received);
        wire.send(ack);
      }
      try {
        obey(type, message);
      } catch (Exception error) {
        var failed = message("failed");
        boolean isOurs = error.getClass() == IOException.class;
        failed.addProperty("error", type + ": " + (isOurs ? error.getMessage() : error));
        wire.send(failed);
      }
    }
  }

  private void obey(String type, JsonObject message) throws Exception {
    if (run != null && !type.equals("stop")) {
      throw new IOException("a load is running; stop it first");
    }
    switch (type) {
      case "open" -> open(message);
      case "start" -> start(message);
      case "stop" -> stop(message);
      case "close" -> close();
      default -> throw new IOException("unknown type; expected open, start, stop or close");
    }
  }

  private void open(JsonObject message) throws Exception {
    if (load != null) {
      throw new IOException("connections are open; close them first");
    }
    var opening = new Load<>(library, message);
    try {
      opening.open();
    } catch (Exception error) {
      opening.close();
      throw error;
    }
    load = opening;
    var opened = message("opened");
    opened.addProperty("connections", load.opened());
    wire.send(opened);
  }

  private void start(JsonObject message) throws Exception {
    if (load == null) {
      throw new IOException("no connections are open; send 'open' first");
    }
    var starting = new Run<>(load, message, wire);
    run = starting;
    Thread.ofPlatform().start(() -> make(starting));
  }

  private void make(Run<C> starting) {
    var stopped = message("stopped");
    try {
      stopped.addProperty("calls", starting.make());
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
    run = null;
    wire.send(stopped);
  }

  private void stop(JsonObject message) {
    var running = run;
    if (running != null) {
      running.stop(message.get("at_ns").getAsLong());
    }
  }

  private void close() {
    if (load != null) {
      load.close();
      load = null;
    }
  }
}
