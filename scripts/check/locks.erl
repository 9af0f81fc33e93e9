%% Writers of one of the broker's own tables, which write what is there. Channels read the table for every message, and wait
%% for its lock. Releases with Khepri have another table of the same rows.
-module(locks).
-export([start/2, stop/0]).

start(Name, Count) ->
    Table = present(Name),
    Rows = lists:append(lists:duplicate(100, lists:sublist(ets:tab2list(Table), 20))),
    [spawn(fun() -> register(name(Number), self()), write(Table, Rows) end) || Number <- lists:seq(1, Count)],
    ok.

present(Name) ->
    case ets:info(Name, id) of
        undefined ->
            "rabbit_" ++ Rows = atom_to_list(Name),
            list_to_existing_atom("rabbit_khepri_" ++ Rows);
        _ ->
            Name
    end.

write(Table, Rows) ->
    ets:insert(Table, Rows),
    write(Table, Rows).

stop() ->
    [exit(Pid, kill) || Number <- lists:seq(1, 16), Pid <- [whereis(name(Number))], is_pid(Pid)],
    ok.

name(Number) ->
    list_to_atom("planted_writer_" ++ integer_to_list(Number)).
