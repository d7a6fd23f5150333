package dev.rpcbench.vertx;

import dev.rpcbench.json.Messages.DtoReply;
import dev.rpcbench.json.Messages.DtoRequest;
import dev.rpcbench.json.Messages.RecordReply;
import dev.rpcbench.json.Messages.RecordRequest;
import dev.rpcbench.json.Messages.TextReply;
import dev.rpcbench.json.Messages.TextRequest;
import dev.rpcbench.json.Messages.TreeReply;
import dev.rpcbench.json.Messages.TreeRequest;
import dev.rpcbench.json.Strict;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** The contract's service as JSON on Vert.x. The launcher has checked the settings in the environment. */
public final class EchoServer extends VerticleBase {
  /** How long calls in flight may take after SIGTERM. */
  private static final long DRAIN_SECONDS = 2;

  private static final JsonMapper MAPPER = Strict.strict(JsonMapper.builder()).build();

  @Override
  public Future<?> start() {
    var router = Router.router(vertx);
    // The library's default limit is 10 MiB.
    router.route().handler(BodyHandler.create(false));
    unary(router, "Text", TextRequest.class, request -> new TextReply(request.text()));
    unary(router, "Record", RecordRequest.class, request -> new RecordReply(request.record()));
    unary(router, "Dto", DtoRequest.class, request -> new DtoReply(request.dto()));
    unary(router, "Tree", TreeRequest.class, request -> new TreeReply(request.tree()));
    var port = Integer.parseInt(System.getenv("RPCBENCH_PORT"));
    return vertx
        .createHttpServer(options())
        .requestHandler(router)
        .listen(port, System.getenv("RPCBENCH_HOST"));
  }

  /** With RPCBENCH_TLS_CERT: TLS by the JDK, and HTTP/2 or HTTP/1.1 by ALPN. */
  private static HttpServerOptions options() {
    var options = new HttpServerOptions();
    var certificate = System.getenv("RPCBENCH_TLS_CERT");
    if (certificate != null) {
      options
          .setSsl(true)
          .setUseAlpn(true)
          .setKeyCertOptions(
              new PemKeyCertOptions()
                  .setCertPath(certificate)
                  .setKeyPath(System.getenv("RPCBENCH_TLS_KEY")));
    }
    return options;
  }

  private static <Q> void unary(
      Router router, String method, Class<Q> type, Function<Q, Object> answer) {
    router
        .post("/rpcbench.v1.Echo/" + method)
        .handler(context -> handle(context, type, answer));
  }

  private static <Q> void handle(
      RoutingContext context, Class<Q> type, Function<Q, Object> answer) {
    if (context.body().isEmpty()) {
      context.response().setStatusCode(400).end("empty body");
      return;
    }
    Q request;
    try {
      request = MAPPER.readValue(context.body().buffer().getBytes(), type);
    } catch (JacksonException error) {
      context.response().setStatusCode(400).end(error.getOriginalMessage());
      return;
    }
    context
        .response()
        .putHeader("Content-Type", "application/json")
        .end(Buffer.buffer(MAPPER.writeValueAsBytes(answer.apply(request))));
  }

  public static void main(String[] args) throws InterruptedException {
    var vertx = Vertx.vertx();
    // An event loop per CPU; they share the port.
    var loops = new DeploymentOptions().setInstances(Runtime.getRuntime().availableProcessors());
    try {
      vertx.deployVerticle(EchoServer::new, loops).toCompletionStage().toCompletableFuture().get();
    } catch (ExecutionException error) {
      System.err.println("java-vertx: " + error.getCause());
      System.exit(1);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(vertx)));
  }

  private static void stop(Vertx vertx) {
    try {
      vertx.close().toCompletionStage().toCompletableFuture().get(DRAIN_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException error) {
      System.err.println("java-vertx: " + error);
    }
  }
}
