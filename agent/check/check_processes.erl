%% The busiest processes, and those with the longest mailboxes.
-module(check_processes).
-export([choose/3, process_figures/4]).

%% Reductions of a process that has worked for some thousandths of a second, and of one that works at all.
worth_watching() -> 10000.
active() -> 2000.

%% Chooses the processes that are looked at until the end: those with the most reductions so far. Others that work are
%% candidates for flow control.
choose(#{base := Base, looks := Looks}, Skipped, Note) ->
    ets:insert(Looks, {{own, self()}}),
    Most = max(12, min(32, 2 * erlang:system_info(schedulers_online))),
    {_, Bests} = lists:foldl(fun (Pid, {Count, In}) ->
        check_base:pause(Count),
        {Count + 1, case not is_map_key(Pid, Skipped) andalso Note(Pid, fun () -> process_info(Pid, reductions) end) of
            {_, Reductions} ->
                Growth = check_base:worked_since(Base, Pid, Reductions),
                Active = check_best:better(active, Growth - active(), Pid, 1000, In),
                check_best:better(busy, Growth - worth_watching(), Pid, Most, Active);
            _ -> In
        end}
    end, {1, #{}}, check_base:worked(Base)),
    ets:insert(Looks, [{watch, without_own(check_best:chosen(maps:with([busy], Bests)), Looks)},
        {active, without_own(check_best:chosen(maps:with([active], Bests)), Looks)}]).

%% Processes of this request.
without_own(Pids, Looks) -> [Pid || Pid <- Pids, not ets:member(Looks, {own, Pid})].

%% Rows of these, of the watched processes, and of `Others`, and the time between the readings of their reductions.
process_figures(#{base := Base, looks := Looks, sums := Sums}, Others, Skipped, Note) ->
    ets:insert(Looks, {{own, self()}}),
    Now = erlang:monotonic_time(millisecond),
    {_, Bests} = broker_tables:each(processes, fun (Pid, _, {Count, In}) ->
        check_base:pause(Count),
        IsAsked = Count < check_base:process_limit() andalso not is_map_key(Pid, Skipped),
        {Count + 1, case IsAsked andalso Note(Pid, fun () -> process_info(Pid, [reductions, message_queue_len]) end) of
            [{_, Reductions}, {_, Length}] ->
                Busy = check_best:better(busy, check_base:worked_since(Base, Pid, Reductions), Pid, 30, In),
                check_best:better(mailbox, Length, Pid, 10, Busy);
            _ -> In
        end}
    end, {1, #{}}),
    Watched = [Pid || {watch, Pids} <- ets:lookup(Looks, watch), Pid <- Pids],
    [{_, Since}] = ets:lookup(Base, reductions_at),
    Pids = without_own(lists:usort(check_best:chosen(Bests) ++ Watched ++ Others), Looks),
    #{elapsed_ms => max(1, Now - Since), rows => [Row || Pid <- Pids, not is_map_key(Pid, Skipped),
        Row <- [Note(Pid, fun () -> process_row(Pid, Base, Looks, Sums) end)], is_map(Row)]}.

process_row(Pid, Base, Looks, Sums) ->
    case process_info(Pid, [reductions, message_queue_len, memory]) of
        [{_, Reductions}, {_, Length}, {_, Memory}] ->
            {Name, VHost} = name_of(Pid, Sums),
            {Looked, _, Busy, Mailed, Mailbox} = flow_rows:counted_looks(Looks, Pid),
            #{pid => Pid, role => roles:shown_role(Pid), name => Name, vhost => VHost,
                reductions => check_base:worked_since(Base, Pid, Reductions), looks => Looked, busy => Busy, with_mail => Mailed,
                mailbox_sum => Mailbox, mailbox => Length, memory_bytes => Memory};
        undefined -> gone
    end.

%% The queue of a process by the queues' records, because a quorum queue's process has another name.
name_of(Pid, Sums) ->
    case ets:lookup(Sums, Pid) of
        [{_, {resource, VHost, queue, Name}}] -> {Name, VHost};
        [] -> {roles:process_name(Pid), <<>>}
    end.
