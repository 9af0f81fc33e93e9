%% Writers of one of the broker's own tables, which write what is there. Channels read the table for every message, and wait
%% for its lock.
-module(locks).
-export([start/2, stop/0]).

start(Table, Count) ->
    Rows = lists:append(lists:duplicate(100, lists:sublist(ets:tab2list(Table), 20))),
    [spawn(fun() -> register(name(Number), self()), write(Table, Rows) end) || Number <- lists:seq(1, Count)],
    ok.

write(Table, Rows) ->
    ets:insert(Table, Rows),
    write(Table, Rows).

stop() ->
    [exit(Pid, kill) || Number <- lists:seq(1, 16), Pid <- [whereis(name(Number))], is_pid(Pid)],
    ok.

name(Number) ->
    list_to_atom("planted_writer_" ++ integer_to_list(Number)).
