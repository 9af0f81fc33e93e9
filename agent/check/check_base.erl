%% The first snapshot: rows of tables and reductions of processes, kept in a table until the end of a check.
-module(check_base).
-export([remember/3, grown/3, worked/1, worked_since/3, each_paced/4, pause/1, process_limit/0, are_few_rows/0]).

%% Tables with more rows are not compared, so that time and memory stay bounded.
row_limit() -> 60000.

process_limit() -> 200000.

%% Reductions of a process that has worked for some hundredths of a second since its start. Growth is unknown below.
least_reductions() -> 50000.

%% Rows are kept under the keys of their tables: {Channel, Queue}, {Channel, Exchange}, {Channel, {Queue, Exchange}}.
%% Other keys are a pid for reductions, a queue for its ready messages, {bytes, Connection}, {unacked, Channel}.
remember(#{base := Base, looks := Looks}, Skipped, Note) ->
    ets:insert(Looks, {{own, self()}}),
    are_few_rows() andalso [check_parts:attempted(fun () -> keep_rows(Table, Base) end) || Table <- message_tables()],
    check_parts:attempted(fun () ->
        keep_found(connection_coarse_metrics, {{'$1', '$2', '$3', '_', '_'}, [], [{{{{bytes, '$1'}}, '$2', '$3'}}]}, Base)
    end),
    check_parts:attempted(fun () ->
        keep_found(queue_coarse_metrics, {{'$1', '$2', '_', '_', '_'}, [{'>', '$2', 0}], [{{'$1', '$2'}}]}, Base)
    end),
    check_parts:attempted(fun () ->
        check_lists:each_values(channel_metrics, [messages_unacknowledged], fun (Pid, [Count], _) ->
            Count =:= 0 orelse ets:insert(Base, {{unacked, Pid}, Count})
        end, none)
    end),
    ets:insert(Looks, {in_flow, check_parts:attempted(fun in_flow/0)}),
    ets:insert(Base, {reductions_at, erlang:monotonic_time(millisecond)}),
    broker_tables:each(processes, fun (Pid, _, Count) ->
        pause(Count),
        Count < process_limit() andalso not is_map_key(Pid, Skipped) andalso
            case Note(Pid, fun () -> process_info(Pid, reductions) end) of
                {reductions, Reductions} -> Reductions >= least_reductions() andalso ets:insert(Base, {Pid, Reductions});
                undefined -> gone
            end,
        Count + 1
    end, 1).

%% Connections and channels that were slowed down when they wrote their rows; `unknown` if they write none.
in_flow() ->
    case application:get_env(rabbit, collect_statistics, none) of
        none -> unknown;
        _ ->
            lists:append([ets:select(Table, [{{'$1', Pattern}, [{'=:=', '$2', flow}], ['$1']}])
                || Table <- [connection_metrics, channel_metrics], Pattern <- list_patterns:value_patterns(Table, [state])])
    end.

message_tables() -> [channel_queue_metrics, channel_exchange_metrics, channel_queue_exchange_metrics].

are_few_rows() -> lists:all(fun (Table) -> Size = ets:info(Table, size), is_integer(Size) andalso Size =< row_limit() end, message_tables()).

keep_rows(Table, Base) -> each_paced(Table, [{'$1', [], ['$1']}], fun (Row, _) -> ets:insert(Base, Row) end, none).

%% A table whose rows have another form gives none.
keep_found(Table, Specification, Base) -> each_paced(Table, [Specification], fun (Kept, _) -> ets:insert(Base, Kept) end, none).

%% The processes with a kept number of reductions, and their growth. That of other processes is known in part.
worked(Base) -> ets:select(Base, [{{'$1', '$2'}, [{is_pid, '$1'}], ['$1']}]).

worked_since(Base, Pid, Reductions) ->
    case Reductions >= least_reductions() andalso ets:lookup(Base, Pid) of
        [{_, Before}] -> max(0, Reductions - Before);
        [] -> Reductions - least_reductions();
        false -> 0
    end.

%% Growth of a counter since the first snapshot. Everything is new in a row that is new.
grown(Base, Row, Position) ->
    case ets:lookup(Base, element(1, Row)) of
        [Before] when tuple_size(Before) >= Position -> max(0, element(Position, Row) - element(Position, Before));
        _ -> element(Position, Row)
    end.

each_paced(Table, Specification, Each, Acc) ->
    queue_table:in_pieces(Table, Specification, fun (Found, In) ->
        timer:sleep(2),
        lists:foldl(Each, In, Found)
    end, Acc).

%% A pause of the scan after each 300 processes.
pause(Count) -> Count rem 300 =:= 0 andalso timer:sleep(2).
