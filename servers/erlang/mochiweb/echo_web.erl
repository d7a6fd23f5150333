%% The contract's service as JSON on MochiWeb. The launcher has checked the settings in the environment.
-module(echo_web).

-export([start_link/0, loop/1]).

%% Maximum size of a request's body in bytes; the library's default is 1 MiB.
-define(MAX_BODY, 8388608).

start_link() ->
    {ok, Address} = inet:parse_address(os:getenv("RPCBENCH_HOST")),
    mochiweb_http:start_link([
        {name, ?MODULE},
        {ip, Address},
        {port, list_to_integer(os:getenv("RPCBENCH_PORT"))},
        {loop, {?MODULE, loop}},
        {nodelay, true},
        %% Thousands of clients may connect at once. By default 128 wait, and 2,048 are served.
        {backlog, 4096},
        {max, 65536}
        | tls(os:getenv("RPCBENCH_TLS_CERT"))
    ]).

%% TLS by OTP's ssl, if the environment names a certificate. Without session_tickets, no session of TLS 1.3 is resumed.
tls(false) ->
    [];
tls(Certificate) ->
    Options = [
        {certfile, Certificate},
        {keyfile, os:getenv("RPCBENCH_TLS_KEY")},
        {alpn_preferred_protocols, [<<"http/1.1">>]},
        {session_tickets, stateless}
    ],
    [{ssl, true}, {ssl_opts, Options}].

loop(Request) ->
    case method(mochiweb_request:get(path, Request)) of
        undefined ->
            respond(404, #{error => <<"not found">>}, Request);
        Method ->
            case mochiweb_request:get(method, Request) of
                'POST' -> answer(Method, mochiweb_request:recv_body(?MAX_BODY, Request), Request);
                _ -> respond(405, #{error => <<"method not allowed">>}, Request)
            end
    end.

method("/rpcbench.v1.Echo/Text") -> text;
method("/rpcbench.v1.Echo/Record") -> record;
method("/rpcbench.v1.Echo/Dto") -> dto;
method("/rpcbench.v1.Echo/Tree") -> tree;
method(_) -> undefined.

answer(Method, Body, Request) ->
    try read(Method, Body) of
        Content -> respond(200, #{echo => messages:encode(Content)}, Request)
    catch
        %% The decoders and messages raise errors of several kinds, all about the body.
        error:_ -> respond(400, #{error => <<"not a valid message">>}, Request)
    end.

%% jiffy 1.1.1 reads 5e-324 as 5 * 10^-324, which is 0; MochiWeb's decoder is slower but exact.
read(Method, Body) ->
    Content = messages:decode(Method, jiffy:decode(Body, [return_maps])),
    case messages:has_tiny_double(Content) of
        false -> Content;
        true -> messages:decode(Method, mochijson2:decode(Body, [{format, map}]))
    end.

respond(Status, Body, Request) ->
    mochiweb_request:respond({Status, [{"Content-Type", "application/json"}], jiffy:encode(Body)}, Request).
