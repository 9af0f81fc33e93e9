%% Goes by the name of a node: answers as its port mapper and as the node itself, sends a challenge, and
%% writes down whether anybody answers that.
-module(impostors).
-export([start/2]).

start(Name, Directory) ->
    Node = listen([{packet, 2}]),
    Mapper = listen([]),
    {ok, Port} = inet:port(Node),
    {ok, MapperPort} = inet:port(Mapper),
    spawn_link(fun() -> map(Mapper, Port) end),
    ok = file:write_file(filename:join(Directory, "port"), integer_to_list(MapperPort)),
    greet(Node, list_to_binary(Name), Directory).

listen(More) ->
    {ok, Socket} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}} | More]),
    Socket.

map(Mapper, Port) ->
    {ok, Socket} = gen_tcp:accept(Mapper),
    {ok, _} = gen_tcp:recv(Socket, 0),
    ok = gen_tcp:send(Socket, <<119, 0, Port:16, 77, 0, 6:16, 5:16, 0:16, 0:16>>),
    gen_tcp:close(Socket),
    map(Mapper, Port).

greet(Node, Name, Directory) ->
    {ok, Socket} = gen_tcp:accept(Node),
    {ok, <<"N", _/binary>>} = gen_tcp:recv(Socket, 0),
    ok = gen_tcp:send(Socket, <<"sok">>),
    ok = gen_tcp:send(Socket, <<"N", 0:64, 4711:32, 1:32, (byte_size(Name)):16, Name/binary>>),
    Got = case gen_tcp:recv(Socket, 0, 10000) of
        {ok, <<"r", _/binary>>} -> "digest";
        _ -> "nothing"
    end,
    gen_tcp:close(Socket),
    ok = file:write_file(filename:join(Directory, "got"), io_lib:format("~s~n", [Got]), [append]),
    greet(Node, Name, Directory).
