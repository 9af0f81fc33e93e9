%% Pauses of a call tree recording, and the check of all recorded processes twenty times a second.
-module(calltree_pauses).
-export([pause/1, quieten_all/1, resume/1, wake/2, tick/1]).
-include("calltree.hrl").

pause(#s{window = Window} = S0) ->
    Began = erlang:monotonic_time(microsecond),
    S = quieten_all(dismiss_lingering(infinity, S0)),
    Spent = erlang:monotonic_time(microsecond) - Began,
    %% The pause is four times as long as the events have cost, at some 1.5 µs each, including those in the mailbox.
    %% So the observed processes run without tracing most of the time.
    Cost = (Window + budgets:mailbox()) * 3 div 2 + Spent,
    erlang:send_after(max(20, 4 * Cost div 1000), self(), pause_over),
    S#s{pausing = true}.

%% Clears the flags of all processes, including those whose first event is still in the mailbox.
quieten_all(#s{tracing = #{word := true} = Tracing} = S) ->
    tracing:set_word(0, Tracing),
    S#s{hidden = true};
quieten_all(#s{tracing = Tracing} = S) ->
    [tracing:quieten(Pid, Tracing) || Pid <- tracing:all_traced(Tracing)],
    calltree:hide_entries(S).

resume(#s{procs = Procs} = S) ->
    S1 = S#s{pausing = false, window = 0, windows = S#s.windows + 1},
    calltree:admit(S1),
    calltree:show_entries(lists:foldl(fun wake_if_kept/2, S1, maps:keys(Procs))).

%% A followed process may have been removed, because the call to it has ended.
wake_if_kept(Pid, #s{procs = Procs} = S) ->
    case Procs of
        #{Pid := P} -> wake(P, S);
        _ -> S
    end.

%% Resumes a process after a pause. Its present innermost frames go on top of the known part of its stack.
wake(#p{pid = Pid, open = false, stack = []} = P, S) when Pid =/= none ->
    calltree_stack:forget(P, S);
wake(#p{pid = Pid} = P, #s{tracing = Tracing} = S) ->
    case process_info(Pid, [status, current_stacktrace]) of
        undefined -> gone(P, S);
        [{status, Status}, {current_stacktrace, Trace}] ->
            Frames = [{M, F, A} || {M, F, A, _} <- Trace],
            case place(Frames, P, S) of
                outside -> gone(P, S);
                {P1, S1} ->
                    Now = erlang:monotonic_time(nanosecond),
                    %% The time of a followed process is time of the process that waits for it.
                    Unseen = if P#p.last =:= none; P#p.owner =/= Pid -> 0; true -> Now - P#p.last end,
                    Waits = Status =:= waiting,
                    {P2, S2} = if
                        Waits ->
                            {Off, S3} = calltree_stack:child(calltree_stack:top(P1), {off, hd(Frames ++ [none])}, S1),
                            {P1#p{class = off, off = Off}, S3};
                        true -> {P1#p{class = run}, S1}
                    end,
                    tracing:flag(Pid, true, calltree:flags(Tracing), Tracing),
                    Since = if P#p.since =:= none -> Now; true -> P#p.since end,
                    S4 = calltree_stack:unfollow_if_left(P2#p{last = Now, since = Since, woken = Now}, S2#s{unseen = S2#s.unseen + Unseen}),
                    calltree_stack:follow_found(map_get(Pid, S4#s.procs), Waits andalso lists:member({gen, do_call, 4}, Frames), S4)
            end
    end.

gone(#p{open = true} = P, S) ->
    calltree_stack:settle(P, S),
    S#s{procs = maps:remove(P#p.pid, S#s.procs)};
gone(#p{stack = []} = P, S) ->
    calltree_stack:forget(P, S);
gone(#p{follow = {Other, _}, last = Last} = P, S) ->
    gone(P#p{follow = none}, calltree_stack:unfollow(Other, Last, S));
gone(#p{since = Since, last = Last} = P, S) ->
    calltree_stack:settle(P, S),
    calltree_stack:forget(P, S#s{cut = S#s.cut + 1, seen = S#s.seen + Last - Since}).

place(Frames, #p{stack = Stack, open = Open} = P, S) ->
    Outwards = lists:reverse(Frames),
    case lists:dropwhile(fun(MFA) -> not lists:keymember(MFA, 1, Stack) end, Outwards) of
        [Known | Inner] ->
            Below = lists:dropwhile(fun({MFA, _, _}) -> MFA =/= Known end, Stack),
            {P1, S1} = push_all(Inner, P#p{stack = Below}, S),
            {P1, S1};
        [] when Open -> push_all(Outwards, P#p{stack = []}, S);
        [] when length(Frames) < 8 -> outside;
        [] -> push_all(Outwards, P#p{stack = [lists:last(Stack)]}, S)
    end.

push_all(Frames, P, S) ->
    lists:foldl(fun(MFA, {P1, S1}) -> calltree_stack:pushed(MFA, real, P1, S1) end, {P, S}, Frames).

tick(S0) ->
    erlang:send_after(50, self(), tick),
    Now = erlang:monotonic_time(nanosecond),
    S = calltree:show_entries(clear_tracers(dismiss_lingering(Now - 100000000, S0))),
    Silent = [P || #p{last = Last} = P <- maps:values(S#s.procs), Now - Last > 200000000],
    if
        S#s.pausing -> S;
        true -> lists:foldl(fun still_there/2, S, Silent)
    end.

%% The second step of dismissing a process. Clears `arity`, unless the process has been admitted again meanwhile: its
%% calls would then be sent with all their arguments.
clear_tracers(#s{clearing = Clearing, procs = Procs, tracing = Tracing} = S) ->
    [tracing:flag(Pid, false, [arity], Tracing) || Pid <- maps:keys(Clearing), not is_map_key(Pid, Procs), not is_armed(Pid, Tracing)],
    S#s{clearing = #{}}.

dismiss_lingering(Before, #s{lingering = Lingering} = S) ->
    Idle = [Pid || {Pid, Since} <- maps:to_list(Lingering), Since < Before],
    lists:foldl(fun calltree:dismiss/2, S#s{lingering = maps:without(Idle, Lingering)}, Idle).

%% A process without events for 200 ms may have ended, or lost its flags at the end of an earlier call.
still_there(#p{pid = Pid} = P, #s{tracing = Tracing} = S) ->
    case is_armed(Pid, Tracing) of
        true -> S;
        false -> gone(P, S)
    end.

is_armed(Pid, Tracing) ->
    case flags_of(Pid, Tracing) of
        {flags, Flags} when is_list(Flags) -> lists:member(call, Flags);
        _ -> false
    end.

flags_of(Pid, #{session := none}) -> catch erlang:trace_info(Pid, flags);
flags_of(Pid, #{session := Session}) -> catch apply(trace, info, [Session, Pid, flags]).
