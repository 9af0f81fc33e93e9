%% Looks at the credit of processes and at the run queues, many times a second.
%%
%% A process that has used up its credit with another notes that one in its dictionary, under `credit_blocked`
%% (credit_flow in RabbitMQ). Candidates are looked at in turn, a few at each tick. Those that are blocked, those
%% that block them, and the busiest processes are watched: looked at each tick.
%%
%% All that is seen goes into a table: {totals, Looks, Missed, RunQueue, Crowded, Passes, Candidates},
%% {{look, Pid}, Looks, Blocked, Busy, WithMail, Mailbox}, {{who, Pid}, Identity}, {{by, Pid, Blocker}, Looks},
%% {{unwatched, Pid}}, {{peer, Node}, Looks, Bytes, Busy}. So nothing is lost if a process does not answer and the looks begin again.
-module(flow_looks).
-export([started/2, looks_ended/2]).

%% Limits of the watched processes: those found by their credit, and with their blockers. A look at one takes 5 µs.
most_found() -> 64.
most_watched() -> 128.

%% Time between the beginnings of two passes over all candidates, so that 400 candidates a second are looked at. The copy
%% of a dictionary takes 13 µs.
pass_interval_ms(Candidates) -> max(1000, Candidates * 5 div 2).

started(#{words := Words, interval_ms := Interval, pace := Pace}, #{looks := Table}) ->
    Caller = self(),
    ets:insert(Table, {totals, 0, 0, 0, 0, 0, 0}),
    spawn_opt(fun () ->
        attendance:attended(fun (Skipped, Note) -> looks(Table, {Interval, Pace}, Skipped, Note) end, #{}, Words),
        Caller ! {looked, self()}
    end, [link, {priority, high}]).

%% Ends the looks. One at a process that does not answer is not waited for.
looks_ended(Looker, #{looks := Table}) ->
    ets:insert(Table, {finish}),
    receive {looked, Looker} -> ok
    after 1000 ->
        unlink(Looker),
        exit(Looker, kill)
    end.

looks(Table, {Interval, Pace}, Skipped, Note) ->
    ets:insert(Table, {{own, self()}}),
    Now = erlang:monotonic_time(millisecond),
    Before = maps:from_list([{Pid, 0} || [Pid] <- ets:match(Table, {{look, '$1'}, '_', '_', '_', '_', '_'}), not is_map_key(Pid, Skipped)]),
    ticks(#{table => Table, dictionary => flow_credit:dictionary_item(), skipped => Skipped, note => Note, interval => Interval,
        pace => Pace, due => Now, tick => 0, rest => [], pass_at => Now, watched => Before, is_chosen => false}).

ticks(#{table := Table, due := Due} = Looks) ->
    Now = erlang:monotonic_time(millisecond),
    case ets:member(Table, finish) of
        true -> ok;
        false when Now < Due ->
            timer:sleep(Due - Now),
            ticks(Looks);
        false -> ticks(tick(Now, Looks))
    end.

tick(Now, #{table := Table, due := Due, interval := Interval, tick := Tick} = Looks) ->
    RunQueue = erlang:statistics(total_run_queue_lengths),
    Crowded = case RunQueue >= erlang:system_info(schedulers_online) of true -> 1; false -> 0 end,
    [look_at_peer(Table, Node, Controller) || {Node, Controller} <- erlang:system_info(dist_ctrl), lists:member(Node, nodes())],
    Looked = look_at_watched(with_chosen(next_candidates(next_pass(Now, Looks)))),
    %% A tick whose time has passed is left out.
    Missed = (Now - Due) div Interval,
    ets:update_counter(Table, totals, [{2, 1}, {3, Missed}, {4, RunQueue}, {5, Crowded}]),
    Looked#{due := Due + (Missed + 1) * Interval, tick := Tick + 1}.

%% ---- Distribution ----

%% Senders are suspended while the buffer is at its limit. Only a message that would be refused then shows this: it is
%% for nobody, and is tried only while the socket does not take all bytes.
look_at_peer(Table, Node, Controller) ->
    Bytes = case is_port(Controller) andalso erlang:port_info(Controller, queue_size) of {queue_size, Size} -> Size; _ -> 0 end,
    %% A message to a name that no process has. The VM keeps what waits outside of the port, and does not tell its size.
    IsBusy = erlang:send({undefined, Node}, rabbitscope, [nosuspend, noconnect]) =:= nosuspend,
    ets:update_counter(Table, {peer, Node}, [{2, 1}, {3, Bytes}, {4, case IsBusy of true -> 1; false -> 0 end}], {{peer, Node}, 0, 0, 0}).

%% ---- Candidates ----

%% Begins a pass when the one before has ended, and its time has come.
next_pass(Now, #{table := Table, rest := [], pass_at := At, skipped := Skipped} = Looks) when Now >= At ->
    case flow_credit:candidates(Table) of
        %% Not known yet.
        [] -> Looks;
        Found ->
            All = [Pid || Pid <- Found, not is_map_key(Pid, Skipped)],
            ets:update_counter(Table, totals, {6, 1}),
            ets:update_element(Table, totals, {7, flow_credit:candidate_count()}),
            Looks#{rest := All, pass_at := Now + pass_interval_ms(length(All))}
    end;
next_pass(_, Looks) -> Looks.

next_candidates(#{rest := [], pace := _} = Looks) -> Looks;
next_candidates(#{rest := Rest, pace := Pace} = Looks) ->
    {Now, Later} = lists:split(min(Pace, length(Rest)), Rest),
    lists:foldl(fun look_at_candidate/2, Looks#{rest := Later}, Now).

look_at_candidate(Pid, #{watched := Watched}  = Looks) when is_map_key(Pid, Watched) -> Looks;
look_at_candidate(Pid, #{dictionary := Item, note := Note} = Looks) ->
    case flow_credit:blockers(Note(Pid, fun () -> process_info(Pid, Item) end)) of
        {[_ | _], _} -> watch(Pid, most_found(), Looks);
        _ -> Looks
    end.

watch(Pid, Most, #{table := Table, watched := Watched, note := Note} = Looks) ->
    case map_size(Watched) < Most of
        true ->
            ets:insert_new(Table, {{look, Pid}, 0, 0, 0, 0, 0}),
            %% It may have ended when the rows are made.
            ets:insert_new(Table, {{who, Pid}, Note(Pid, fun () -> flow_rows:identity(Pid) end)}),
            Looks#{watched := maps:merge(#{Pid => 0}, Watched)};
        false ->
            ets:insert(Table, {{unwatched, Pid}}),
            Looks
    end.

%% The busiest processes, which another process finds meanwhile.
with_chosen(#{is_chosen := true} = Looks) -> Looks;
with_chosen(#{table := Table, skipped := Skipped} = Looks) ->
    case ets:lookup(Table, watch) of
        [{_, Pids}] ->
            Chosen = [Pid || Pid <- Pids, not is_map_key(Pid, Skipped)],
            lists:foldl(fun (Pid, In) -> watch(Pid, most_watched(), In) end, Looks#{is_chosen := true}, Chosen);
        [] -> Looks
    end.

%% ---- Watched processes ----

look_at_watched(#{watched := Watched, tick := Tick} = Looks) ->
    maps:fold(fun (Pid, Due, In) when Due =< Tick -> look_at(Pid, In); (_, _, In) -> In end, Looks, Watched).

%% The status comes first: the dictionary of a process that runs is read by the process itself.
look_at(Pid, #{note := Note, dictionary := Item, tick := Tick, watched := Watched, table := Table, skipped := Skipped} = Looks) ->
    case Note(Pid, fun () -> {process_info(Pid, status), process_info(Pid, [message_queue_len, Item])} end) of
        {{_, Status}, [{_, Length}, Dictionary]} ->
            {By, Size} = flow_credit:blockers(Dictionary),
            flow_rows:count_look(Table, Pid, By, Status, Length),
            Local = [One || One <- flow_credit:local_processes(By), not is_map_key(One, Watched), not is_map_key(One, Skipped)],
            %% A large dictionary takes long to copy, so it is read at fewer ticks.
            Later = Looks#{watched := Watched#{Pid := Tick + 1 + Size div 200}},
            lists:foldl(fun (One, In) -> watch(One, most_watched(), In) end, Later, Local);
        _ -> Looks#{watched := maps:remove(Pid, Watched)}
    end.
