%% The processes with credit, and the blockers of each.
-module(flow_credit).
-export([candidates/1, candidate_count/0, dictionary_item/0, blockers/1, local_processes/1]).

%% Above this number, processes that do not work are looked at only if they wrote that they are slowed down.
few() -> 2000.

candidate_count() ->
    lists:sum([Size || Table <- [connection_created, channel_created, queue_table:queue_table()], Size <- [ets:info(Table, size)], is_integer(Size)]).

%% The candidates of the next pass. A node without statistics has no rows about slow processes, so all are looked at once.
candidates(Table) ->
    case candidate_count() =< few() of
        true -> all_candidates();
        false ->
            Active = [Pid || {_, Pids} <- ets:lookup(Table, active), Pid <- Pids],
            case ets:lookup(Table, in_flow) of
                [{_, unknown}] -> ets:insert(Table, {in_flow, []}), all_candidates();
                [{_, Slow}] -> lists:usort(Slow ++ Active);
                [] -> []
            end
    end.

%% Connections, channels, sessions and classic queues: all processes that are granted credit by others, but for the
%% message stores, which are found as blockers.
all_candidates() ->
    Add = fun (Pid, _, Pids) -> [Pid | Pids] end,
    Clients = lists:foldl(fun (Kind, Pids) -> broker_tables:each(Kind, Add, Pids) end, sessions(), [connections, channels]),
    Head = queue_table:queue_head([{pid, '$1'}]),
    lists:usort(broker_tables:each_found(queue_table:queue_table(), [{Head, [{is_pid, '$1'}], ['$1']}], fun (Pid, Pids) ->
        case broker_tables:local(Pid) of none -> Pids; Queue -> [Queue | Pids] end
    end, Clients)).

%% Sessions of AMQP 1.0 since RabbitMQ 4.0.
sessions() ->
    case erlang:module_loaded(rabbit_amqp_session) of
        true -> try apply(rabbit_amqp_session, list_local, []) catch _:_ -> [] end;
        false -> []
    end.

%% From OTP 26.2 on the VM hands out one entry of a dictionary; before, a copy of all.
dictionary_item() ->
    try process_info(self(), {dictionary, credit_blocked}) of _ -> {dictionary, credit_blocked}
    catch error:badarg -> dictionary end.

%% {Blockers, Size}: the pids and names of queues that block the process, and the number of copied entries.
blockers({{dictionary, credit_blocked}, By}) -> {listed_blockers(By), 0};
blockers({dictionary, Dictionary}) ->
    case lists:keyfind(credit_blocked, 1, Dictionary) of
        {_, By} -> {listed_blockers(By), length(Dictionary)};
        false -> {[], length(Dictionary)}
    end;
blockers(undefined) -> {[], 0}.

listed_blockers(By) when is_list(By) -> By;
listed_blockers(_) -> [].

%% Blockers on this node. A quorum queue is named by the registered name of its processes.
local_processes(By) ->
    [Pid || One <- By, Pid <- [case One of _ when is_atom(One) -> whereis(One); _ -> One end], is_pid(Pid), node(Pid) =:= node()].
