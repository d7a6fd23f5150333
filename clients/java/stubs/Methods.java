package dev.rpcbench.client.grpc;

import dev.rpcbench.client.Library.Exchange;
import dev.rpcbench.client.Method;
import dev.rpcbench.v1.DtoReply;
import dev.rpcbench.v1.DtoRequest;
import dev.rpcbench.v1.RecordReply;
import dev.rpcbench.v1.RecordRequest;
import dev.rpcbench.v1.TextReply;
import dev.rpcbench.v1.TextRequest;
import dev.rpcbench.v1.TreeReply;
import dev.rpcbench.v1.TreeRequest;
import java.util.Map;

/** The contract's methods with the messages of protobuf-java. */
public final class Methods {
  /** Returns the methods of a library that makes calls with these exchanges, by shape. */
  public static <C> Map<String, Method<C, ?, ?>> of(
      Exchange<C, TextRequest, TextReply> text,
      Exchange<C, RecordRequest, RecordReply> record,
      Exchange<C, DtoRequest, DtoReply> dto,
      Exchange<C, TreeRequest, TreeReply> tree) {
    return Map.of("text", text(text), "record", record(record), "dto", dto(dto), "tree", tree(tree));
  }

  private static <C> Method<C, ?, ?> text(Exchange<C, TextRequest, TextReply> exchange) {
    return new Method<>(
        TextRequest::parseFrom,
        TextRequest::getText,
        (request, text) -> request.toBuilder().setText(text).build(),
        TextReply::getEcho,
        (request, reply) -> true,
        exchange);
  }

  private static <C> Method<C, ?, ?> record(Exchange<C, RecordRequest, RecordReply> exchange) {
    return new Method<>(
        RecordRequest::parseFrom,
        request -> request.getRecord().getField1(),
        (request, text) ->
            request.toBuilder().setRecord(request.getRecord().toBuilder().setField1(text)).build(),
        reply -> reply.getEcho().getField1(),
        (request, reply) -> request.getRecord().equals(reply.getEcho()),
        exchange);
  }

  private static <C> Method<C, ?, ?> dto(Exchange<C, DtoRequest, DtoReply> exchange) {
    return new Method<>(
        DtoRequest::parseFrom,
        request -> request.getDto().getProp1(),
        (request, text) ->
            request.toBuilder().setDto(request.getDto().toBuilder().setProp1(text)).build(),
        reply -> reply.getEcho().getProp1(),
        (request, reply) -> request.getDto().equals(reply.getEcho()),
        exchange);
  }

  private static <C> Method<C, ?, ?> tree(Exchange<C, TreeRequest, TreeReply> exchange) {
    return new Method<>(
        TreeRequest::parseFrom,
        request -> request.getTree().getName(),
        (request, text) ->
            request.toBuilder().setTree(request.getTree().toBuilder().setName(text)).build(),
        reply -> reply.getEcho().getName(),
        (request, reply) -> request.getTree().equals(reply.getEcho()),
        exchange);
  }

  private Methods() {}
}
