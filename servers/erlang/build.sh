#!/bin/sh
# Builds the Erlang server in the current folder into RPCBENCH_BUILD_DIR: a release of its application `echo`, and packages.lock with the
# versions of Erlang and the distribution's libraries.
#
#   build.sh LIBRARY...
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"

here=$(cd "$(dirname "$0")" && pwd)
build=$RPCBENCH_BUILD_DIR
rm -rf "$build/release"
mkdir "$build/release"
cp "$here/messages.erl" ./*.erl ./*.app ./*.config "$build/release"
cd "$build/release"

sh "$here/erl.sh" -noinput -eval '
    Libraries = [list_to_atom(Name) || Name <- init:get_plain_arguments()],
    Compile = fun(File) -> compile:file(File, [report, warnings_as_errors, debug_info]) end,
    [{ok, _} = Compile(File) || File <- filelib:wildcard("*.erl")],
    Version = fun(Name) ->
        case application:load(Name) of
            ok -> ok;
            {error, {already_loaded, Name}} -> ok
        end,
        {ok, Found} = application:get_key(Name, vsn),
        Found
    end,
    %% All dependencies of the application, direct and indirect.
    Needs = fun Needs(Name, Found) ->
        case lists:member(Name, Found) of
            true -> Found;
            false ->
                Version(Name),
                {ok, Names} = application:get_key(Name, applications),
                lists:foldl(Needs, [Name | Found], Names)
        end
    end,
    Applications = [{Name, Version(Name)} || Name <- Needs(echo, [sasl])],
    Release = {release, {"echo", "1"}, {erts, erlang:system_info(version)}, Applications},
    ok = file:write_file("echo.rel", io_lib:format("~p.~n", [Release])),
    ok = systools:make_script("echo", [local]),
    Lines = [io_lib:format("~s ~s~n", [Name, Version(Name)]) || Name <- Libraries],
    Otp = filename:join([code:root_dir(), "releases", erlang:system_info(otp_release), "OTP_VERSION"]),
    {ok, Number} = file:read_file(Otp),
    ok = file:write_file("../packages.lock", ["otp ", Number, Lines]),
    halt().' -extra "$@"
