"""The services that come with grpcio: health, reflection, and Channelz, which counts calls. Argument: the address."""

import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
from grpc_channelz.v1 import channelz, channelz_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

server = grpc.server(ThreadPoolExecutor(max_workers=4), options=[("grpc.enable_channelz", 1)])
health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
channelz.add_channelz_servicer(server)
reflection.enable_server_reflection(
    [
        health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
        channelz_pb2.DESCRIPTOR.services_by_name["Channelz"].full_name,
        reflection.SERVICE_NAME,
    ],
    server,
)
server.add_insecure_port(sys.argv[1])
server.start()
server.wait_for_termination()
