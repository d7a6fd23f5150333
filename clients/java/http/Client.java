import dev.rpcbench.client.Driver;
import dev.rpcbench.client.Library;
import dev.rpcbench.client.Method;
import dev.rpcbench.client.Outcome;
import dev.rpcbench.json.Messages;
import dev.rpcbench.json.Messages.DtoReply;
import dev.rpcbench.json.Messages.DtoRequest;
import dev.rpcbench.json.Messages.RecordReply;
import dev.rpcbench.json.Messages.RecordRequest;
import dev.rpcbench.json.Messages.TextReply;
import dev.rpcbench.json.Messages.TextRequest;
import dev.rpcbench.json.Messages.TreeReply;
import dev.rpcbench.json.Messages.TreeRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls the contract's service as JSON with java.net.http and Jackson: -Dcalls=async or
 * -Dcalls=blocking.
 */
public final class Client {
  private static final boolean BLOCKING = "blocking".equals(System.getProperty("calls"));
  private static final JsonMapper json = JsonMapper.builder().build();

  /** The library's client has a pool without a limit: it opens a connection per call in flight. */
  private record Pool(
      HttpClient http, String url, Duration timeout, long callsPerConnection, AtomicLong calls) {
    HttpRequest request(String method, Object message) {
      var request =
          HttpRequest.newBuilder(URI.create(url + method))
              .timeout(timeout)
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofByteArray(json.writeValueAsBytes(message)));
      if (callsPerConnection > 0 && calls.incrementAndGet() % callsPerConnection == 0) {
        request.header("Connection", "close");
      }
      return request.build();
    }
  }

  private static final class Connector implements Library.Connector<Pool> {
    // Otherwise the library's defaults.
    @Override
    public Pool connect(Library.Target target) {
      var timeout = Duration.ofNanos(target.timeoutNanos());
      var http =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .connectTimeout(timeout)
              .build();
      var url = "http://" + target.address() + "/rpcbench.v1.Echo/";
      return new Pool(http, url, timeout, target.callsPerConnection(), new AtomicLong());
    }

    @Override
    public void close(Pool pool) {
      pool.http.shutdownNow();
    }
  }

  private static final class StatusException extends IOException {
    private static final long serialVersionUID = 1;
    final int status;

    StatusException(int status) {
      super("HTTP status " + status);
      this.status = status;
    }
  }

  private static <R> R reply(HttpResponse<byte[]> response, Class<R> type) throws StatusException {
    if (response.statusCode() != 200) {
      throw new StatusException(response.statusCode());
    }
    return json.readValue(response.body(), type);
  }

  private static <Q, R> Library.Exchange<Pool, Q, R> exchange(String method, Class<R> type) {
    if (BLOCKING) {
      Library.Blocking<Pool, Q, R> call =
          (pool, request) ->
              reply(
                  pool.http.send(pool.request(method, request), BodyHandlers.ofByteArray()), type);
      return call.exchange();
    }
    return (pool, request, done) ->
        pool.http
            .sendAsync(pool.request(method, request), BodyHandlers.ofByteArray())
            .whenComplete((response, error) -> end(response, error, type, done));
  }

  private static <R> void end(
      HttpResponse<byte[]> response, Throwable error, Class<R> type, Library.Callback<R> done) {
    if (error != null) {
      done.error(error);
      return;
    }
    R reply;
    try {
      reply = reply(response, type);
    } catch (StatusException | JacksonException failure) {
      done.error(failure);
      return;
    }
    done.reply(reply);
  }

  private static Outcome outcome(Throwable error) {
    var cause = error instanceof CompletionException ? error.getCause() : error;
    if (cause instanceof StatusException status) {
      return Outcome.status(status.status);
    }
    if (cause instanceof HttpTimeoutException) {
      return Outcome.TIMEOUT;
    }
    return cause instanceof JacksonException ? Outcome.WRONG_ANSWER : Outcome.TRANSPORT;
  }

  private static <Q> Method.Decoder<Q> decoder(Class<Q> type) {
    return encoded -> json.readValue(encoded, type);
  }

  /** Returns a field of the echo, or null if the reply has no content. */
  private static <E> String field(E echo, Function<E, String> field) {
    return echo == null ? null : field.apply(echo);
  }

  private static final Method<Pool, TextRequest, TextReply> TEXT =
      new Method<>(
          decoder(TextRequest.class),
          TextRequest::text,
          (request, text) -> new TextRequest(text),
          TextReply::echo,
          (request, reply) -> true,
          exchange("Text", TextReply.class));

  private static final Method<Pool, RecordRequest, RecordReply> RECORD =
      new Method<>(
          decoder(RecordRequest.class),
          request -> request.record().field1(),
          (request, text) -> new RecordRequest(Copies.with(request.record(), text)),
          reply -> field(reply.echo(), Messages.FlatRecord::field1),
          (request, reply) -> request.record().equals(reply.echo()),
          exchange("Record", RecordReply.class));

  private static final Method<Pool, DtoRequest, DtoReply> DTO =
      new Method<>(
          decoder(DtoRequest.class),
          request -> request.dto().prop1(),
          (request, text) -> new DtoRequest(Copies.with(request.dto(), text)),
          reply -> field(reply.echo(), Messages.PropertyDto::prop1),
          (request, reply) -> request.dto().equals(reply.echo()),
          exchange("Dto", DtoReply.class));

  private static final Method<Pool, TreeRequest, TreeReply> TREE =
      new Method<>(
          decoder(TreeRequest.class),
          request -> request.tree().name(),
          (request, text) ->
              new TreeRequest(Copies.with(request.tree(), text, request.tree().digest())),
          reply -> field(reply.echo(), Messages.TreeNode::name),
          (request, reply) -> equal(request.tree(), reply.echo()),
          exchange("Tree", TreeReply.class));

  /** Records compare arrays by identity. */
  private static boolean equal(Messages.TreeNode sent, Messages.TreeNode echo) {
    return Arrays.equals(sent.digest(), echo.digest())
        && Copies.with(sent, sent.name(), null).equals(Copies.with(echo, echo.name(), null));
  }

  public static void main(String[] args) throws IOException {
    // The library repeats no call, not even one that failed to connect, and lets a call close its
    // connection.
    System.setProperty("jdk.httpclient.disableRetryConnect", "true");
    System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
    // Idle connections stay open for an hour instead of 30 s.
    System.setProperty("jdk.httpclient.keepalive.timeout", "3600");
    Driver.run(
        new Library<>(
            "java.net.http",
            Runtime.version().toString(),
            Library.Connections.POOLED,
            BLOCKING,
            new Connector(),
            Client::outcome,
            Map.of("text", TEXT, "record", RECORD, "dto", DTO, "tree", TREE)));
  }

  private Client() {}
}
