import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.protobuf.services.ChannelzService;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.File;
import java.net.InetSocketAddress;

/**
 * The services that come with grpc-java: health, reflection, and Channelz, which counts calls. Arguments: the port; for TLS its
 * certificate, its key, and the authority of clients' certificates, which are then required.
 */
final class GrpcJava {
  private GrpcJava() {}

  public static void main(String[] arguments) throws Exception {
    var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
    var server = NettyServerBuilder.forAddress(address);
    if (arguments.length > 1) {
      server.sslContext(
          GrpcSslContexts.forServer(new File(arguments[1]), new File(arguments[2]))
              .trustManager(new File(arguments[3]))
              .clientAuth(ClientAuth.REQUIRE)
              .build());
    }
    server
        .addService(new HealthStatusManager().getHealthService())
        .addService(ProtoReflectionServiceV1.newInstance())
        .addService(ChannelzService.newInstance(10))
        .build()
        .start()
        .awaitTermination();
  }
}
