package dev.rpcbench.client;

import java.io.IOException;
import java.util.Map;

/**
 * Describes a client library.
 *
 * @param <C> makes the calls of one connection, or of the library's pool
 * @param name its name in the manifest
 * @param connections how calls share connections
 * @param blocking whether calls block their thread, a virtual one
 * @param connector opens connections
 * @param outcomes classifies the errors of calls
 * @param methods the contract's methods, by shape
 */
public record Library<C>(
    String name,
    String version,
    Connections connections,
    boolean blocking,
    Connector<C> connector,
    Outcomes outcomes,
    Map<String, Method<C, ?, ?>> methods) {

  /** How calls share connections. */
  public enum Connections {
    /** A connection carries several calls at a time. */
    MULTIPLEXED,
    /** A connection carries one call at a time. */
    EXCLUSIVE,
    /** A connection carries one call at a time, and belongs to the library's pool. */
    POOLED
  }

  /**
   * Where and how to open connections.
   *
   * @param address host:port
   * @param callsPerConnection calls after which a connection is closed; 0 for no limit
   */
  public record Target(
      String address, int connections, long timeoutNanos, int callsPerConnection) {}

  /** Opens and closes connections. */
  public interface Connector<C> {
    /** Opens a connection, or starts to. */
    C connect(Target target);

    /** Waits until a connection is open. */
    default void await(C connection) throws IOException, InterruptedException {}

    void close(C connection);
  }

  /** Classifies the error of a call. */
  public interface Outcomes {
    Outcome of(Throwable error);
  }

  /** Receives a reply or an error; if calls block, before {@link Exchange#start} returns. */
  public interface Callback<R> {
    void reply(R reply);

    void error(Throwable error);
  }

  /** Makes a call. */
  public interface Exchange<C, Q, R> {
    void start(C connection, Q request, Callback<R> done);
  }

  /** Calls that block. */
  public interface Blocking<C, Q, R> {
    R call(C connection, Q request) throws Exception;

    default Exchange<C, Q, R> exchange() {
      return (connection, request, done) -> {
        R reply;
        try {
          reply = call(connection, request);
        } catch (Exception error) {
          done.error(error);
          return;
        }
        done.reply(reply);
      };
    }
  }
}
