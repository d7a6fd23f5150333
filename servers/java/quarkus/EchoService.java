package dev.rpcbench.quarkus;

import dev.rpcbench.v1.DtoReply;
import dev.rpcbench.v1.DtoRequest;
import dev.rpcbench.v1.Echo;
import dev.rpcbench.v1.RecordReply;
import dev.rpcbench.v1.RecordRequest;
import dev.rpcbench.v1.TextReply;
import dev.rpcbench.v1.TextRequest;
import dev.rpcbench.v1.TreeReply;
import dev.rpcbench.v1.TreeRequest;
import io.quarkus.grpc.GrpcService;
import io.smallrye.mutiny.Uni;

/** The contract's gRPC service. Methods run on the event loop, Quarkus's default for gRPC. */
@GrpcService
public class EchoService implements Echo {
  @Override
  public Uni<TextReply> text(TextRequest request) {
    return Uni.createFrom().item(TextReply.newBuilder().setEcho(request.getText()).build());
  }

  @Override
  public Uni<RecordReply> record(RecordRequest request) {
    var reply = RecordReply.newBuilder();
    if (request.hasRecord()) {
      reply.setEcho(request.getRecord());
    }
    return Uni.createFrom().item(reply.build());
  }

  @Override
  public Uni<DtoReply> dto(DtoRequest request) {
    var reply = DtoReply.newBuilder();
    if (request.hasDto()) {
      reply.setEcho(request.getDto());
    }
    return Uni.createFrom().item(reply.build());
  }

  @Override
  public Uni<TreeReply> tree(TreeRequest request) {
    var reply = TreeReply.newBuilder();
    if (request.hasTree()) {
      reply.setEcho(request.getTree());
    }
    return Uni.createFrom().item(reply.build());
  }
}
