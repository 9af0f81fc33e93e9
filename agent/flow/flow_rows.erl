%% The results of the looks: the blocked processes, and all that block them.
-module(flow_rows).
-export([count_look/5, counted_looks/2, identity/1, flow_answer/2, involved/2]).

%% Processes that are blocked most often. Their blockers come in addition.
most_rows() -> 60.

%% Busy is a process that runs, waits for a scheduler, or collects garbage.
count_look(Table, Pid, By, Status, Length) ->
    Busy = lists:member(Status, [running, runnable, garbage_collecting]),
    ets:update_counter(Table, {look, Pid}, [{2, 1}, {3, as_one(By =/= [])}, {4, as_one(Busy)}, {5, as_one(Length > 0)}, {6, Length}]),
    [ets:update_counter(Table, {by, Pid, One}, 1, {{by, Pid, One}, 0}) || One <- lists:usort(By)].

as_one(true) -> 1;
as_one(false) -> 0.

%% {Looks, Blocked, Busy, WithMail, Mailbox} of a process.
counted_looks(Table, Pid) ->
    case ets:lookup(Table, {look, Pid}) of
        [{_, Looks, Blocked, Busy, Mailed, Mailbox}] -> {Looks, Blocked, Busy, Mailed, Mailbox};
        [] -> {0, 0, 0, 0, 0}
    end.

flow_answer(#{looks := Table, sums := Sums}, Skipped) ->
    Blocked = [{Count, Pid} || [Pid, Count] <- ets:match(Table, {{look, '$1'}, '_', '$2', '_', '_', '_'}), Count > 0],
    Unwatched = [Pid || [Pid] <- ets:match(Table, {{unwatched, '$1'}}), not ets:member(Table, {look, Pid})],
    First = [Pid || {_, Pid} <- lists:sublist(lists:reverse(lists:sort(Blocked)), most_rows())],
    By = maps:from_list([{Pid, []} || {_, Pid} <- Blocked]),
    AllBy = lists:foldl(fun ([Pid, One, Count], In) -> maps:update_with(Pid, fun (Others) -> [{One, Count} | Others] end, [{One, Count}], In) end,
        By, ets:match(Table, {{by, '$1', '$2'}, '$3'})),
    [{totals, Looks, Missed, RunQueue, Crowded, Passes, Candidates}] = ets:lookup(Table, totals),
    #{rows => [flow_row(Pid, Table, maps:get(Pid, AllBy, []), Sums)
        || Pid <- with_blockers(First, AllBy), ets:member(Table, {look, Pid}), not is_map_key(Pid, Skipped)],
      blocked => length(Blocked) + length(Unwatched), looks => Looks, missed => Missed, passes => Passes, candidates => Candidates,
      run_queue => RunQueue, crowded => Crowded,
      peers => [{Node, Count, Bytes, Busy} || [Node, Count, Bytes, Busy] <- ets:match(Table, {{peer, '$1'}, '$2', '$3', '$4'})]}.

%% The processes, and all that block them, directly or not.
with_blockers(Pids, AllBy) ->
    By = [One || Pid <- Pids, {One, _} <- maps:get(Pid, AllBy, []), is_pid(One), node(One) =:= node()],
    case lists:usort(Pids ++ By) of
        Same when length(Same) =:= length(Pids) -> Same;
        More -> with_blockers(More, AllBy)
    end.

flow_row(Pid, Table, By, Sums) ->
    {Looks, Blocked, Busy, _, Mailbox} = counted_looks(Table, Pid),
    [{_, Identity}] = ets:lookup(Table, {who, Pid}),
    maps:merge(maps:merge(Identity, queue_texts(Pid, Sums)), #{pid => Pid, looks => Looks, blocked => Blocked, busy => Busy,
        mailbox => Mailbox div max(1, Looks), by => [{blocker(One, Sums), Count} || {One, Count} <- By]}).

queue_texts(Pid, Sums) ->
    case ets:lookup(Sums, Pid) of
        [{_, {resource, VHost, queue, Queue}}] -> #{vhost => VHost, name => Queue};
        [] -> #{}
    end.

%% Role and name of a process, and the properties of its connection, which a channel has through its connection.
identity(Pid) ->
    Role = roles:shown_role(Pid),
    Connection = case Role of channel -> proplists:get_value(connection, broker_tables:infos(channel_created, Pid)); _ -> Pid end,
    (connection_texts(Connection))#{role => Role, name => roles:process_name(Pid)}.

connection_texts(Pid) ->
    Infos = broker_tables:infos(connection_created, Pid),
    #{connection => broker_tables:text(name, Infos), client => broker_tables:text(user_provided_name, Infos),
      user => broker_tables:text(user, Infos), vhost => broker_tables:text(vhost, Infos)}.

blocker({resource, VHost, queue, Queue}, _) when is_binary(VHost), is_binary(Queue) -> {queue, VHost, Queue};
blocker(Pid, _) when is_pid(Pid), node(Pid) =:= node() -> Pid;
blocker(Pid, _) when is_pid(Pid) -> {other, iolist_to_binary([pid_to_list(Pid), " on ", atom_to_list(node(Pid))])};
blocker(Other, Sums) ->
    case ets:lookup(Sums, {registered, Other}) of
        [{_, {resource, VHost, queue, Queue}}] -> {queue, VHost, Queue};
        [] -> {other, unicode:characters_to_binary(io_lib:format("~tP", [Other, 8]))}
    end.

%% The pids and the queues of all rows, with the processes of these queues.
involved(#{rows := Rows}, Sums) ->
    Queues = lists:usort([{resource, VHost, queue, Queue} || #{by := By} <- Rows, {{queue, VHost, Queue}, _} <- By]),
    {[Pid || #{pid := Pid} <- Rows] ++ [Pid || Queue <- Queues, {_, Pid} <- ets:lookup(Sums, {here, Queue})], Queues};
involved(_, _) -> {[], []}.
