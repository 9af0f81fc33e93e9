%% Queues of the node: from the tables that the broker fills, or from the queues themselves.
%%
%% Functions only; nothing stays on the node after a call. The queues are gone through in pieces, so
%% that the memory a call takes does not grow with their number, and rows are sent as they are found:
%% a node that cannot send waits (see README.md for how this is loaded).
%%
%% A row is {VHost, Name, Type, Node, Figures}, and Figures is {State, Ready, Unacknowledged,
%% Consumers, MemoryBytes}, each `unknown` if it is, or an atom that says why there are none:
%% not_here (the figures are in the other tables, or on another node), no_answer, not_asked, gone.
-module(rabbitscope_queues).
-export([tables/3, processes/3]).

-type to() :: {pid(), reference()}.

%% What the broker wrote into its tables the last time, table by table; the program puts together what
%% belongs to one queue. Only what is asked for is copied out of a table: a queue's row of
%% queue_metrics is a list of fifty things.
-spec tables(to(), binary() | all, binary() | all) -> {parts, non_neg_integer(), map()}.
tables(To, VHost, Part) ->
    Each = fun (Found, {Sent, Types}) ->
        Wanted = [Queue || Queue <- Found, wanted(Queue, VHost, Part)],
        Rows = [row(Queue, not_here) || Queue <- Wanted],
        {send(To, names, Rows, Sent), lists:foldl(fun count/2, Types, Wanted)}
    end,
    {Sent, Types} = each_piece(Each, {0, #{}}),
    Depths = fun (Found, Count) -> send(To, depths, Found, Count) end,
    More = each_of(queue_coarse_metrics, depths(VHost), Depths, Sent),
    Infos = fun (Found, Count) -> send(To, infos, [info(Row) || Row <- Found], Count) end,
    Last = each_of(queue_metrics, infos(layout(Types), VHost), Infos, More),
    {parts, Last, facts()}.

%% How many queues of a type, and one of them.
count({Resource, Type, _}, Types) ->
    {Number, _} = maps:get(Type, Types, {0, none}),
    Types#{Type => {Number + 1, Resource}}.

depths(VHost) ->
    [{{{resource, '$1', queue, '$2'}, '$3', '$4', '_', '_'}, of_vhost(VHost), [{{'$1', '$2', '$3', '$4'}}]}].

of_vhost(all) -> [];
of_vhost(VHost) -> [{'=:=', '$1', {const, VHost}}].

%% Where state, consumers and memory are in the list that the most frequent type of queue writes.
layout(Types) ->
    Most = lists:reverse(lists:sort([{Number, Resource} || {Number, Resource} <- maps:values(Types)])),
    Infos = case Most of
        [{_, Resource} | _] -> all_infos(Resource);
        [] -> []
    end,
    [place(Key, Infos, 1) || Key <- [state, consumers, memory]].

place(_, [], _) -> none;
place(Key, [{Key, _} | _], At) -> At;
place(Key, [_ | Rest], At) -> place(Key, Rest, At + 1).

all_infos(Resource) -> try ets:lookup_element(queue_metrics, Resource, 2) catch error:badarg -> [] end.

infos(Layout, VHost) ->
    Head = {{resource, '$1', queue, '$2'}, '$3', '_'},
    Slow = {Head, of_vhost(VHost), [{{'$1', '$2'}}]},
    case lists:member(none, Layout) of
        true -> [Slow];
        false ->
            Long = {'>=', {length, '$3'}, lists:max(Layout)},
            Values = [nth(At, '$3') || At <- Layout],
            [{Head, [Long | of_vhost(VHost)], [list_to_tuple([list_to_tuple(['$1', '$2' | Values])])]}, Slow]
    end.

nth(1, List) -> {hd, List};
nth(At, List) -> nth(At - 1, {tl, List}).

%% Lists of another layout are read whole.
info({VHost, Name, {state, State}, {consumers, Consumers}, {memory, Memory}}) ->
    {VHost, Name, State, Consumers, Memory};
info(Row) ->
    {VHost, Name} = {element(1, Row), element(2, Row)},
    Infos = all_infos({resource, VHost, queue, Name}),
    {VHost, Name, value(state, Infos), value(consumers, Infos), value(memory, Infos)}.

%% What the queues say, each asked by a process of its own. One that does not answer holds up nobody
%% else: a thousand are asked at the same time, and at the deadline it is said who has not answered.
-spec processes(to(), {binary() | all, binary() | all}, pos_integer()) ->
    {parts, non_neg_integer(), map()}.
processes(To, {VHost, Part}, WithinMs) ->
    Deadline = now_ms() + WithinMs,
    Each = fun (Found, {Asked, Sent}) ->
        Wanted = [Queue || Queue <- Found, wanted(Queue, VHost, Part)],
        ask(Wanted, Deadline, To, Asked, Sent)
    end,
    {Asked, Sent} = each_piece(Each, {#{}, 0}),
    Last = collect(0, Deadline, To, Asked, Sent),
    {parts, Last, facts()}.

facts() ->
    #{interval_ms => environment(collect_statistics_interval, 5000),
      statistics => environment(collect_statistics, none),
      node => node()}.

environment(Key, Default) -> application:get_env(rabbit, Key, Default).

now_ms() -> erlang:monotonic_time(millisecond).

send(To, Rows, Sent) -> send(To, rows, Rows, Sent).

send(_, _, [], Sent) -> Sent;
send({Pid, Ref}, What, Rows, Sent) ->
    Pid ! {Ref, {What, Rows}},
    Sent + 1.

%% Name, type and process of all queues, some hundred at a time. The record that holds them has
%% another form in each release; the broker says which.
each_piece(Each, Acc) ->
    Fields = apply(amqqueue, fields, []),
    Variables = [{name, '$1'}, {type, '$2'}, {pid, '$3'}],
    Head = list_to_tuple([amqqueue | [proplists:get_value(Field, Variables, '_') || Field <- Fields]]),
    Pattern = [{Head, [], [{{'$1', '$2', '$3'}}]}],
    Table = hd([Table || Table <- [rabbit_khepri_queue, rabbit_queue], ets:info(Table, size) =/= undefined]),
    each_of(Table, Pattern, Each, Acc).

%% Rows that come and go meanwhile do no harm, but none may be seen twice.
each_of(Table, Pattern, Each, Acc) ->
    ets:safe_fixtable(Table, true),
    try go_on(ets:select(Table, Pattern, 300), Each, Acc)
    after ets:safe_fixtable(Table, false)
    end.

go_on('$end_of_table', _, Acc) -> Acc;
go_on({Found, Next}, Each, Acc) -> go_on(ets:select(Next), Each, Each(Found, Acc)).

wanted({{resource, VHost, queue, Name}, _, _}, Wanted, Part) ->
    (Wanted =:= all orelse Wanted =:= VHost)
        andalso (Part =:= all orelse binary:match(Name, Part) =/= nomatch).

row({{resource, VHost, queue, Name}, Type, Process}, Figures) ->
    {VHost, Name, type(Type), node_of(Process), Figures}.

type(rabbit_classic_queue) -> classic;
type(rabbit_quorum_queue) -> quorum;
type(rabbit_stream_queue) -> stream;
type(Other) -> Other.

node_of(Pid) when is_pid(Pid) -> node(Pid);
node_of({_, Node}) -> Node;
node_of(_) -> node().

figures(Infos, Ready, Unacknowledged) ->
    {value(state, Infos), Ready, Unacknowledged, value(consumers, Infos), value(memory, Infos)}.

value(Key, Infos) ->
    case lists:keyfind(Key, 1, Infos) of
        {_, Value} when is_integer(Value); is_atom(Value), Value =/= '' -> Value;
        _ -> unknown
    end.

ask([], _, _, Asked, Sent) -> {Asked, Sent};
ask([Queue | Rest], Deadline, To, Asked, Sent) when map_size(Asked) < 1000 ->
    Name = element(1, Queue),
    {Process, Monitor} = spawn_monitor(fun () -> exit({answer, answer(Name)}) end),
    ask(Rest, Deadline, To, Asked#{Monitor => {Process, Queue}}, Sent);
ask(Queues, Deadline, To, Asked, Sent) ->
    case now_ms() < Deadline of
        true ->
            {Fewer, More} = collect_some(500, Deadline, To, Asked, Sent),
            ask(Queues, Deadline, To, Fewer, More);
        false ->
            {Asked, send(To, [row(Queue, not_asked) || Queue <- Queues], Sent)}
    end.

answer(Name) ->
    Items = [state, messages_ready, messages_unacknowledged, consumers, memory],
    case rabbit_amqqueue:lookup(Name) of
        {ok, Queue} ->
            Infos = rabbit_amqqueue:info(Queue, Items),
            figures(Infos, value(messages_ready, Infos), value(messages_unacknowledged, Infos));
        _ -> gone
    end.

%% Waits until no more than so many are still asked. At the deadline the rest is given up.
collect(Most, Deadline, To, Asked, Sent) ->
    {Fewer, More} = collect_some(Most, Deadline, To, Asked, Sent),
    Late = maps:fold(fun (Monitor, {Process, Queue}, Rows) ->
        demonitor(Monitor, [flush]),
        exit(Process, kill),
        [row(Queue, no_answer) | Rows]
    end, [], Fewer),
    send(To, Late, More).

collect_some(Most, Deadline, To, Asked, Sent) ->
    collect_some(Most, Deadline, To, Asked, Sent, []).

collect_some(Most, _, To, Asked, Sent, Rows) when map_size(Asked) =< Most ->
    {Asked, send(To, Rows, Sent)};
collect_some(Most, Deadline, To, Asked, Sent, Rows) when length(Rows) >= 300 ->
    collect_some(Most, Deadline, To, Asked, send(To, Rows, Sent), []);
collect_some(Most, Deadline, To, Asked, Sent, Rows) ->
    receive
        {'DOWN', Monitor, process, _, Reason} when is_map_key(Monitor, Asked) ->
            {{_, Queue}, Fewer} = maps:take(Monitor, Asked),
            Figures = case Reason of {answer, Answer} -> Answer; _ -> no_answer end,
            collect_some(Most, Deadline, To, Fewer, Sent, [row(Queue, Figures) | Rows])
    after max(0, Deadline - now_ms()) ->
        {Asked, send(To, Rows, Sent)}
    end.
