-module(echo_app).
-behaviour(application).

-export([start/2, stop/1]).

start(_Type, _Arguments) ->
    case echo_sup:start_link() of
        {ok, Supervisor} ->
            {ok, Supervisor};
        {error, Reason} ->
            io:format(standard_error, "erlang-mochiweb: cannot start: ~p~n", [Reason]),
            %% Otherwise the runtime would spend seconds on reports of its shutdown.
            halt(1)
    end.

stop(_State) -> ok.
