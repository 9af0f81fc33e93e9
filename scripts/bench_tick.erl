%% Constant work in the style of a broker: nested Erlang calls, with BIFs in C at their ends.
%% For bench-tick.sh.
-module(bench_tick).
-export([run/2]).

-define(DEPTH, 20).

%% Measures the time of a number of rounds in microseconds, repeatedly.
run(Rounds, Times) ->
    {Process, Monitor} = spawn_monitor(fun() ->
        Table = ets:new(bench_tick, [set, private]),
        true = ets:insert(Table, [{N, N rem 7} || N <- lists:seq(1, 500)]),
        exit({took, [element(1, timer:tc(fun() -> rounds(Rounds, Table) end)) || _ <- lists:seq(1, Times)]})
    end),
    receive {'DOWN', Monitor, process, Process, {took, Micros}} -> Micros end.

rounds(0, _) -> ok;
rounds(Left, Table) ->
    ?DEPTH = nested(?DEPTH, Table),
    rounds(Left - 1, Table).

nested(0, Table) ->
    Found = ets:select(Table, [{{'$1', 6}, [], ['$1']}]),
    Encoded = term_to_binary(lists:sort(fun(A, B) -> A > B end, Found)),
    nomatch = binary:match(Encoded, <<"no such bytes">>),
    _ = maps:from_list([{Key, Encoded} || Key <- Found]),
    0;
nested(Depth, Table) -> 1 + nested(Depth - 1, Table).
