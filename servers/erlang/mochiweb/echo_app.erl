-module(echo_app).
-behaviour(application).

-export([start/2, stop/1]).

start(_Type, _Arguments) ->
    case echo_sup:start_link() of
        {ok, Supervisor} ->
            {ok, Supervisor};
        {error, Reason} ->
            io:format(standard_error, "erlang-mochiweb: cannot start: ~p~n", [Reason]),
            %% At once: otherwise the runtime would describe its own end for seconds.
            halt(1)
    end.

stop(_State) -> ok.
