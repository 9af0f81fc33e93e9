%% Two snapshots of processes, and the rows that changed most between them.
%%
%% Native code that keeps its scheduler counts few reductions, so the table does not show it. Late answers do.
-module(top_snapshots).
-export([remembered/4, best_rows/5]).

%% Keeps a row {Pid, Reductions, In, Out} of each candidate. Returns {Count, Silent, Late}: processes without an answer,
%% and processes with a late one, `#{Pid => Microseconds}`.
remembered(What, Before, Silent, Words) ->
    attendance:attended(fun (Skipped, Note) ->
        Traffic = top_traffic:traffic(What),
        candidates(What, Traffic, fun (Pid, Key, Count) ->
            case is_map_key(Pid, Skipped) orelse Note(Pid, fun () -> process_info(Pid, reductions) end) of
                {reductions, Reductions} ->
                    {In, Out} = top_traffic:traffic_of(What, Pid, Key, Traffic),
                    ets:insert(Before, {Pid, Reductions, In, Out}),
                    Count + 1;
                _ -> Count
            end
        end, 0)
    end, Silent, Words).

%% {{Rows, Longest, Tables}, Silent, Late}: the best rows {Value, Pid, Key, Row}, the candidate with the most messages, and the
%% tables of queues.
best_rows(#{what := What, sort := Sort, limit := Limit}, Before, Silent, Words, Own) ->
    attendance:attended(fun (Skipped, Note) ->
        Traffic = top_traffic:traffic(What),
        Tables = case What of queues -> memory_queues:tables_by_queue(); _ -> #{} end,
        {Best, Longest} = candidates(What, Traffic, fun (Pid, Key, {Found, Longest} = Now) ->
            case is_map_key(Pid, Skipped) orelse lists:member(Pid, Own) orelse
                Note(Pid, fun () -> now_and_before(What, Pid, Key, Before, Traffic) end) of
                {_, _, _, _, Mailbox} = Row ->
                    {keep({value(Sort, {Pid, Key, Tables}, Row), Pid, Key, Row}, Found, Limit), max({Mailbox, Pid}, Longest)};
                _ -> Now
            end
        end, {gb_sets:empty(), {0, none}}),
        {lists:reverse(gb_sets:to_list(Best)), Longest, Tables}
    end, Silent, Words).

%% ---- Candidates ----

%% All candidates, each with the process that does its work. If a plugin serves the protocol (MQTT before 3.12, AMQP
%% 1.0 before 4.0), the tables have a process between plugin and broker, which does almost nothing.
candidates(connections, {_, Serving}, Each, Acc) ->
    broker_tables:each(connections, fun (Pid, _, In) -> Each(maps:get(Pid, Serving, Pid), Pid, In) end, Acc);
candidates(What, _, Each, Acc) -> broker_tables:each(What, Each, Acc).

keep(One, Found, Limit) ->
    More = gb_sets:add(One, Found),
    case gb_sets:size(More) > Limit of
        true -> element(2, gb_sets:take_smallest(More));
        false -> More
    end.

%% {Reductions, In, Out} of the interval, and {Memory, Mailbox} now. All reductions of a new process are in the
%% interval.
now_and_before(What, Pid, Key, Before, Traffic) ->
    case process_info(Pid, [reductions, memory, message_queue_len]) of
        [{_, Reductions}, {_, Memory}, {_, Mailbox}] ->
            {In, Out} = top_traffic:traffic_of(What, Pid, Key, Traffic),
            case ets:lookup(Before, Pid) of
                [{_, Earlier, In0, Out0}] ->
                    {Reductions - Earlier, less(In, In0), less(Out, Out0), Memory, Mailbox};
                [] -> {Reductions, unknown, unknown, Memory, Mailbox}
            end;
        undefined -> gone
    end.

less(unknown, _) -> unknown;
less(_, unknown) -> unknown;
less(Now, Before) -> max(0, Now - Before).

value(cpu, _, Row) -> element(1, Row);
value(in, _, Row) -> number(element(2, Row));
value(out, _, Row) -> number(element(3, Row));
value(memory, {_, Key, Tables}, Row) -> element(4, Row) + memory_queues:table_bytes(Key, Tables);
value(ready, {_, Key, _}, _) -> number(element(1, top_rows:depth(Key)));
value(unacked, {_, {resource, _, queue, _} = Key, _}, _) -> number(element(2, top_rows:depth(Key)));
value(unacked, {Pid, _, _}, _) -> number(top_rows:unacknowledged(Pid));
value(mailbox, _, Row) -> element(5, Row);
value(binaries, {Pid, Key, Tables}, _) -> number(top_rows:binaries(Pid, Key, Tables)).

number(unknown) -> -1;
number(Value) -> Value.
