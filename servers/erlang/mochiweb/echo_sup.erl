-module(echo_sup).
-behaviour(supervisor).

-export([start_link/0]).
-export([init/1]).

start_link() -> supervisor:start_link({local, ?MODULE}, ?MODULE, []).

init([]) ->
    Web = #{id => echo_web, start => {echo_web, start_link, []}, modules => dynamic},
    {ok, {#{strategy => one_for_one}, [Web]}}.
