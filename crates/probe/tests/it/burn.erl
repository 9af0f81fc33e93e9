%% Burns CPU with a known answer. A process started here spends 70 % of its time below seventy/2, 20 % below
%% twenty/2 and 10 % below ten/2. Each function runs that many of the same unit of work.
-module(burn).
-export([start/1, hold/2, contend/0, open_pipe/1, read_pipe/1]).
-export([planted_port/1, sleep_in_port/2, sleep_in_port_later/2, grow_heap/3]).

start(Kind) ->
    spawn(fun() -> loop(prepare(Kind)) end).

prepare(erlang) -> erlang;
prepare(member) -> {member, lists:seq(1, 20000)};
prepare(select) ->
    Table = ets:new(burn, [set, private]),
    true = ets:insert(Table, [{N, N rem 7} || N <- lists:seq(1, 2000)]),
    {select, Table};
prepare(match) -> {match, binary:copy(<<"abcdefgh">>, 20000)};
prepare(gc) -> gc;
prepare(guard) -> {guard, binary:copy(<<"abcdefgh">>, 1000)};
prepare(length) -> {length, lists:seq(1, 20000)};
prepare(send) -> send;
prepare(nif) -> {nif, binary:copy(<<"abcdefgh">>, 1000)};
prepare(dirty) ->
    {ok, File} = file:open(code:which(lists), [read, raw, binary]),
    {dirty, File};
prepare(lines) -> lines;
prepare(copy) -> copy;
prepare(collected) -> {collected, [{N, N} || N <- lists:seq(1, 2000)]};
prepare({deep, Levels}) -> {deep, Levels};
prepare({bif, Number}) ->
    List = lists:seq(1, 500),
    Table = ets:new(burn, [duplicate_bag, private]),
    true = ets:insert(Table, [{one, N} || N <- List]),
    Pairs = [{N, N} || N <- List],
    Binary = binary:copy(<<"abcdefgh">>, 500),
    {bif, Number, {List, Pairs, Table, Binary, term_to_binary(Pairs), maps:from_list(Pairs)}}.

loop({deep, Levels} = Work) ->
    _ = deep(Levels),
    loop(Work);
loop({collected, Live}) ->
    Self = self(),
    _ = [spawn_link(fun() -> collect(Self) end) || _ <- [1, 2]],
    spin(0, Live);
loop({bif, Number, Data} = Work) ->
    _ = bif(Number, Data),
    loop(Work);
loop(lines) ->
    ok = calls(),
    ok = weaves(2000, 12345, 65521),
    %% A different length each time, or rounds could keep in step with a profiler's clock.
    _ = sum(erlang:unique_integer([positive]) * 7919 rem 100000, 0),
    loop(lines);
loop(Work) ->
    ok = seventy(70, Work),
    ok = twenty(20, Work),
    ok = ten(10, Work),
    loop(Work).

seventy(0, _) -> ok;
seventy(N, Work) -> _ = unit(Work), seventy(N - 1, Work).

twenty(0, _) -> ok;
twenty(N, Work) -> _ = unit(Work), twenty(N - 1, Work).

ten(0, _) -> ok;
ten(N, Work) -> _ = unit(Work), ten(N - 1, Work).

unit(erlang) -> sum(20000, 0);
unit({member, List}) -> lists:member(none, List);
unit({select, Table}) -> ets:select(Table, [{{'$1', 9}, [], ['$1']}]);
unit({match, Binary}) -> binary:match(Binary, <<"xyz">>);
unit({guard, Binary}) -> parts(Binary, 2000, Binary);
unit({length, List}) -> length(List);
unit(send) -> talk(1000);
unit({nif, Binary}) -> crypto:hash(sha256, Binary);
unit({dirty, File}) -> file:pread(File, 0, 65536);
unit(copy) -> binary:copy(<<0:(8 * 1000)>>, 500);
unit(gc) -> length([{N, N} || N <- lists:seq(1, 5000)]).

%% The order is that of a table in known_answer.rs.
bif(1, {List, _, _, _, _, _}) -> lists:member(none, List);
bif(2, {List, _, _, _, _, _}) -> lists:reverse(List, []);
bif(3, {_, Pairs, _, _, _, _}) -> lists:keyfind(none, 1, Pairs);
bif(4, {_, Pairs, _, _, _, _}) -> lists:keymember(none, 2, Pairs);
bif(5, {_, Pairs, _, _, _, _}) -> lists:keysearch(none, 1, Pairs);
bif(6, {_, _, Table, _, _, _}) -> ets:select(Table, [{{'$1', 9}, [], ['$1']}]);
bif(7, {_, _, Table, _, _, _}) -> ets:lookup(Table, one);
bif(8, {_, _, Table, _, _, _}) -> ets:match(Table, {'$1', 9});
bif(9, {_, _, _, Binary, _, _}) -> binary:match(Binary, <<"xyz">>);
bif(10, {_, _, _, Binary, _, _}) -> binary:copy(Binary, 3);
bif(11, {_, Pairs, _, _, _, _}) -> erlang:term_to_binary(Pairs);
bif(12, {_, _, _, _, Encoded, _}) -> erlang:binary_to_term(Encoded);
bif(13, {_, Pairs, _, _, _, _}) -> erlang:external_size(Pairs);
bif(14, {_, Pairs, _, _, _, _}) -> erlang:phash2(Pairs);
bif(15, {_, _, Table, _, _, _}) -> ets:lookup_element(Table, one, 2);
bif(16, {_, _, Table, _, _, _}) -> ets:select_count(Table, [{{'$1', 9}, [], [true]}]);
bif(17, {List, _, _, _, _, _}) -> erlang:list_to_tuple(List);
bif(18, {_, _, _, Binary, _, _}) -> erlang:binary_to_list(Binary);
bif(19, {_, Pairs, _, _, _, _}) -> maps:from_list(Pairs);
bif(20, {_, _, _, _, _, Map}) -> maps:keys(Map);
bif(21, {_, _, _, _, _, Map}) -> maps:values(Map);
bif(22, {List, _, _, _, _, _}) -> length(List).

parts(_, 0, Part) -> Part;
parts(Binary, N, _) -> parts(Binary, N - 1, binary_part(Binary, N, 100)).

talk(0) -> ok;
talk(N) -> self() ! N, receive N -> talk(N - 1) end.

%% Calls only itself, in tail position: its function is never on its stack.
spin(N, Live) -> spin(N + 1, Live).

%% The scheduler collects the garbage of Process when it schedules that process in.
collect(Process) ->
    true = erlang:garbage_collect(Process),
    collect(Process).

sum(0, Acc) -> Acc;
sum(N, Acc) -> sum(N - 1, Acc bxor N).

%% Body recursion that stays at its deepest for as long as it took to get there.
deep(0) -> sum(200000, 0);
deep(N) -> 1 + deep(N - 1).

%% Three lines that call work 70 : 20 : 10.
calls() ->
    _ = sums(70),
    _ = sums(20),
    _ = sums(10),
    ok.

sums(0) -> 0;
sums(N) -> sum(1000, 0) + sums(N - 1).

%% Three lines that do work themselves, 70 : 20 : 10.
-define(STEP(X), ((X) * 31 + 7) rem P).
-define(TWO(X), ?STEP(?STEP(X))).
-define(FOURTEEN(X), ?TWO(?TWO(?TWO(?TWO(?TWO(?TWO(?TWO(X)))))))).

weaves(0, _, _) -> ok;
weaves(N, A, P) -> weaves(N - 1, weave(A, P), P).

weave(A, P) ->
    B = ?FOURTEEN(A),
    C = ?TWO(?TWO(B)),
    ?TWO(C).

%% Holds Count binaries of Bytes bytes each until it receives `done`. Returns when all are allocated.
hold(Count, Bytes) ->
    Caller = self(),
    spawn(fun() ->
        Held = allocate(Count, Bytes),
        Caller ! held,
        receive done -> length(Held) end
    end),
    receive held -> ok end.

allocate(0, _) -> [];
allocate(Count, Bytes) -> [binary:copy(<<0>>, Bytes) | allocate(Count - 1, Bytes)].

%% Makes a process that writes to a table wait for its lock, while another one reads the table.
contend() ->
    spawn(fun() ->
        Table = ets:new(contended, [duplicate_bag, public]),
        true = ets:insert(Table, [{many, N} || N <- lists:seq(1, 100000)]),
        spawn_link(fun() -> write(Table, 0) end),
        read(Table)
    end).

read(Table) -> _ = ets:lookup(Table, many), read(Table).

write(Table, N) ->
    true = ets:insert(Table, {N rem 10, N}),
    true = ets:delete(Table, N rem 10),
    write(Table, N + 1).

%% Opens a named pipe without a writer, and so waits.
open_pipe(Path) ->
    spawn(fun() -> wait_for_writer(Path) end).

wait_for_writer(Path) ->
    {ok, File} = file:open(Path, [read, raw, binary]),
    ok = file:close(File).

%% Reads from a named pipe with a writer, and so waits for its data.
read_pipe(Path) ->
    spawn(fun() ->
        {ok, File} = file:open(Path, [read, raw, binary]),
        wait_for_line(File)
    end).

wait_for_line(File) ->
    {ok, _} = file:read(File, 100),
    ok = file:close(File).

%% A port of planted_drv.c. Its owner is a process that stays, unlike the caller's shell.
planted_port(Directory) ->
    Caller = self(),
    spawn(fun() ->
        ok = erl_ddll:load_driver(Directory, "planted_drv"),
        Caller ! {port, open_port({spawn_driver, "planted_drv"}, [])},
        receive done -> ok end
    end),
    receive {port, Port} -> Port end.

%% The driver sleeps while the process calls it.
sleep_in_port(Port, Micros) ->
    _ = port_control(Port, 1, integer_to_binary(Micros)),
    ok.

%% The driver sleeps a moment later, outside of any process.
sleep_in_port_later(Port, Micros) ->
    _ = port_control(Port, 3, integer_to_binary(Micros)),
    ok.

%% The driver takes memory from the kernel in Count steps.
grow_heap(Port, Count, Bytes) -> grow(Port, Count, integer_to_binary(Bytes)).

grow(_, 0, _) -> ok;
grow(Port, Count, Bytes) ->
    _ = port_control(Port, 2, Bytes),
    grow(Port, Count - 1, Bytes).
