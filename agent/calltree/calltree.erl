%% The request `calltree`: the time of the chosen processes by call path, merged in the node.
%%
%% A process sends its calls, returns, scheduling events and garbage collections only while it is inside the
%% requested function (`entry`), or all the time (`who`). The first breakpoint inside the function is a
%% meta trace. It costs untraced processes a few nanoseconds. It sets the flags in the process itself, so that
%% the first inner call is already recorded.
%%
%% The stack is rebuilt from the caller that every call event carries. A tail call has the caller of the
%% function before it. It goes on top of that function, and a loop of tail calls folds back onto its first
%% round. Time belongs to the stack before an event, never to the one after it.
%%
%% If there are more events than the agent can process, all processes are silenced for a while (a pause).
%% Afterwards they are found again by the innermost frames of their stacks.
-module(calltree).
-export([flags/1, calltree/1, admit/1, hide_entries/1, show_entries/1, caller_of/1, dismiss/2, enter/6]).
-include("calltree.hrl").

flags() -> [call, return_to, running, exiting, arity, monotonic_timestamp].

flags(#{gc := true}) -> [garbage_collection | flags()];
flags(_) -> flags().

calltree(#{args := Args} = To) ->
    process_selection:known_role(Args),
    Budget = budgets:budget(To, #{max_events => 2000000, duration_ms => 10000, max_mailbox => 20000,
        max_bytes => 50331648, max_node_memory_bytes => 50331648}),
    Entries = case Args of
        #{module := _} -> tracing:must_exist(tracing:pattern_of(Args));
        _ -> []
    end,
    {Candidates, Chosen} = case Args of #{who := Who} -> process_selection:busiest_of(process_selection:chosen(Who)); _ -> {0, []} end,
    Mailbox = process_selection:longest_mailbox(Chosen),
    Tracing = tracing:open_tracing(To),
    tracing:refuse_patterned(Tracing, {'_', '_', '_'}),
    {Rate, Counting} = tracing:call_rate(Args, Entries, 150, Tracing),
    Armed = set_wide(tracing:take_word(Counting), maps:get(follow, Args, false)),
    Now = erlang:monotonic_time(nanosecond),
    State = #s{to = To, tracing = Armed, budget = Budget, entries = Entries, tails = calltree_result:tails_of(Entries),
        most_nodes = maps:get(max_nodes, Args, 20000), most_calls = maps:get(max_calls, Args, 10000),
        at_once = if Rate > 1000 -> 1; true -> 8 end, rate = Rate,
        role = maps:get(role, Args, any), follow = maps:get(follow, Args, false),
        window_events = maps:get(window_events, Args, 50000), started = Now},
    put(weights, #{}),
    put(nodes, #{}),
    budgets:start_clocks(Budget),
    erlang:send_after(50, self(), tick),
    State#s.follow andalso (self() ! in_order),
    Set = set_entries(State),
    admit(Set),
    Opened = start_open(Chosen, Set),
    tracing:still_alone(Opened#s.tracing),
    Ended = tree_loop(Opened),
    (calltree_result:tree_result(Ended))#{processes => length(Chosen), candidates => Candidates, mailbox => Mailbox}.

set_wide(Tracing, Follow) ->
    Quiet = quiet_by_word(Tracing),
    Wide = tracing:set_pattern({'_', '_', '_'}, Quiet ++ [{'_', [], [{message, {caller}}]}], [local], Tracing),
    tracing:leave_out_own(local, Wide),
    Follow andalso tracing:change_pattern({gen, do_call, 4},
        Quiet ++ [{['$1', '_', '_', '_'], [], [{trace, '$1', [], {const, own_flags(Wide)}}, {message, {{{const, follow}, '$1', {caller}}}}]}],
        [local], Wide),
    Wide.

%% While the trace control word is 0, each traced process clears its flags with its next call.
quiet_by_word(#{word := true}) ->
    [{'_', [{'=:=', {get_tcw}, 0}], [{trace, {const, tracing:loud_flags()}, []}, {message, false}]}];
quiet_by_word(_) -> [].

%% Flags that a match specification sets on a process.
own_flags(#{session := none, tracer := Tracer} = Tracing) -> [{tracer, Tracer} | flags(Tracing)];
own_flags(Tracing) -> flags(Tracing).

set_entries(#s{entries = Entries} = S) ->
    lists:foldl(fun set_entry/2, S, Entries).

set_entry(MFA, #s{tracing = Tracing} = S) ->
    S#s{tracing = tracing:set_pattern(MFA, arming(Tracing), [meta], Tracing)}.

%% Traces the process that calls the function from there on. The trace control word admits as many processes as it
%% is above 1.
arming(#{word := true} = Tracing) ->
    Less = {set_tcw, {'-', {get_tcw}, 1}},
    [{'_', [{'>', {get_tcw}, 1}], [Less, {trace, [], {const, own_flags(Tracing)}}, {message, false}]}, {'_', [], [{message, false}]}];
arming(Tracing) -> [{'_', [], [{trace, [], {const, own_flags(Tracing)}}, {message, false}]}].

%% Admits as many processes as there is room for. An admitted process without an inner call sends no event and is
%% never counted, so this is repeated from time to time.
admit(#s{pausing = false, tracing = #{word := true} = Tracing, procs = Procs, at_once = Most}) ->
    tracing:set_word(1 + max(0, Most - map_size(Procs)), Tracing);
admit(_) -> ok.

hide_entries(#s{tracing = #{word := true} = Tracing} = S) ->
    tracing:set_word(1, Tracing),
    S#s{hidden = true};
hide_entries(#s{entries = Entries, tracing = Tracing} = S) ->
    [tracing:drop_pattern(MFA, [meta], Tracing) || MFA <- Entries],
    S#s{hidden = true}.

%% Admits no further process while `at_once` processes are recorded. Otherwise, in a function with many callers, the
%% events of dismissed processes would outnumber the used ones.
hide_when_full(#s{hidden = false, procs = Procs, at_once = Most, entries = [_ | _]} = S) when map_size(Procs) >= Most ->
    hide_entries(S);
hide_when_full(S) -> S.

show_entries(#s{tracing = #{word := true}} = S) ->
    admit(S),
    S#s{hidden = false};
show_entries(#s{hidden = true, pausing = false, procs = Procs, at_once = Most, entries = Entries, tracing = Tracing} = S)
        when map_size(Procs) < Most ->
    [tracing:change_pattern(MFA, arming(Tracing), [meta], Tracing) || MFA <- Entries],
    S#s{hidden = false};
show_entries(S) -> S.

start_open(Pids, S) ->
    lists:foldl(fun start_open_one/2, S, Pids).

start_open_one(Pid, S) ->
    {Root, S1} = root_node(Pid, S),
    P = #p{pid = Pid, owner = Pid, open = true, root = Root},
    calltree_pauses:wake(P, S1).

root_node(Pid, S) ->
    calltree_stack:child(0, {process, roles:role(Pid), roles:process_name(Pid)}, S).

%% ---- The loop ----

tree_loop(#s{stop = none} = S) ->
    receive
        {trace_ts, Pid, What, About, Ts} -> tree_loop(arrived({Ts, Pid, What, without_arguments(About), none}, S));
        {trace_ts, Pid, call, MFA, Caller, Ts} -> tree_loop(arrived({Ts, Pid, call, without_arguments(MFA), Caller}, S));
        in_order ->
            erlang:send_after(5, self(), in_order),
            tree_loop(in_order(long_ago(), S));
        tick -> tree_loop(calltree_pauses:tick(S));
        pause_over -> tree_loop(calltree_pauses:resume(S));
        time_is_up -> tree_loop(S#s{stop = duration});
        cancel -> tree_loop(S#s{stop = cancelled});
        {credit, N} -> request:add_credit(N), tree_loop(S);
        look_at_memory ->
            case budgets:over_memory(S#s.budget) of
                none -> tree_loop(S);
                Stop -> tree_loop(S#s{stop = Stop})
            end;
        _ -> tree_loop(S)
    end;
%% Held events still belong to the record.
tree_loop(S) -> in_order(infinity, S).

%% A process that loses the flag `arity` before `call` sends a call with its arguments, which are dropped here.
without_arguments({M, F, Arguments}) when is_list(Arguments) -> {M, F, length(Arguments)};
without_arguments(About) -> About.

%% The events of one process arrive in order. Those of several processes may not, because the node delays an event
%% while another process is sending. With `follow` events are held and sorted by time. At most some thousand are
%% held: the mailbox is off the heap, and this list is not.
arrived(Event, #s{follow = false} = S) -> counted_event(Event, S);
arrived(Event, #s{held = Held, held_count = Before} = S) ->
    Holding = S#s{held = [Event | Held], held_count = Before + 1},
    if
        Before rem 4096 =:= 4095 -> in_order(long_ago(), Holding);
        true -> Holding
    end.

%% All events before this time have arrived.
long_ago() -> erlang:monotonic_time(nanosecond) - 10000000.

in_order(Before, #s{held = Held} = S) ->
    {Later, Now} = lists:partition(fun(Event) -> element(1, Event) > Before end, Held),
    Holding = S#s{held = Later, held_count = length(Later)},
    lists:foldl(fun counted_event/2, Holding, lists:keysort(1, lists:reverse(Now))).

counted_event(_, #s{events = Events, budget = #{max_events := Most}} = S) when Events > Most -> S;
counted_event({Ts, Pid, What, About, Caller}, #s{events = Events, window = Window} = S0) ->
    S = hide_when_full(event(What, Pid, About, Caller, Ts, S0#s{events = Events + 1, window = Window + 1})),
    if
        Events rem 256 =/= 0 -> S;
        Events >= map_get(max_events, S#s.budget) -> S#s{stop = max_events};
        S#s.calls >= S#s.most_calls -> S#s{stop = max_calls};
        S#s.pausing -> S;
        Window >= S#s.window_events -> calltree_pauses:pause(S);
        true ->
            case budgets:mailbox() > map_get(max_mailbox, S#s.budget) of
                true -> calltree_pauses:pause(S);
                false -> S
            end
    end.

event(What, Pid, About, Caller, Ts, #s{procs = Procs} = S) ->
    case Procs of
        #{Pid := #p{woken = Woken}} when is_integer(Woken), Ts < Woken -> S;
        #{Pid := P} -> calltree_stack:happened(What, About, Caller, Ts, P, S);
        _ -> stranger(What, Pid, About, Caller, Ts, S)
    end.

%% The first event of a process. Only a call shows whether the process is inside the function.
stranger(_, Pid, _, _, _, #s{lingering = Lingering} = S) when is_map_key(Pid, Lingering) -> S;
stranger(call, Pid, MFA, Caller, Ts, #s{entries = Entries, procs = Procs} = S) ->
    %% An earlier call without inner calls has set the flags: this call is recorded from its beginning.
    Again = lists:member(MFA, Entries),
    Entry = if Again -> MFA; true -> entry_of(MFA, caller_of(Caller), S) end,
    if
        Entry =:= none -> dismiss(Pid, S);
        map_size(Procs) >= S#s.at_once -> dismiss(Pid, S);
        true ->
            case S#s.role =:= any orelse atom_to_binary(roles:role(Pid), utf8) =:= S#s.role of
                false -> dismiss(Pid, S);
                true ->
                    {Root, S1} = root_node(Pid, S),
                    P = #p{pid = Pid, owner = Pid, entry = Entry, root = Root},
                    put(Pid, #{}),
                    case Again of
                        true -> enter(Entry, caller_of(Caller), true, Ts, P, S1);
                        false ->
                            S2 = enter(Entry, none, false, Ts, P, S1),
                            calltree_stack:happened(call, MFA, Caller, Ts, map_get(Pid, S2#s.procs), S2)
                    end
            end
    end;
stranger(_, _, _, _, _, #s{entries = []} = S) -> S;
stranger(out, Pid, MFA, _, Ts, #s{entries = Entries, procs = Procs} = S) ->
    %% The process waits in the function itself, or has left it.
    case lists:member(MFA, Entries) andalso map_size(Procs) < S#s.at_once andalso S#s.role =:= any of
        true ->
            {Root, S1} = root_node(Pid, S),
            P = #p{pid = Pid, owner = Pid, entry = MFA, root = Root},
            put(Pid, #{}),
            S2 = enter(MFA, none, false, Ts, P, S1),
            calltree_stack:happened(out, MFA, none, Ts, map_get(Pid, S2#s.procs), S2);
        false -> dismiss(Pid, S)
    end;
stranger(_, _, _, _, _, S) -> S.

caller_of({follow, _, Caller}) -> Caller;
caller_of(Caller) -> Caller.

entry_of(MFA, Caller, #s{entries = Entries, tails = Tails}) ->
    case lists:member(Caller, Entries) of
        true -> Caller;
        false ->
            case [Entry || Entry <- Entries, lists:member(MFA, maps:get(Entry, Tails, []))] of
                [Entry | _] -> Entry;
                [] -> none
            end
    end.

%% Clears the flags of a process, at most once between two ticks. Clearing waits until the process does not run, and
%% earlier events of the process still arrive.
dismiss(Pid, #s{clearing = Clearing} = S) when is_map_key(Pid, Clearing) -> S;
dismiss(Pid, #s{tracing = Tracing, clearing = Clearing} = S) ->
    tracing:quieten(Pid, Tracing),
    S#s{clearing = Clearing#{Pid => true}}.

%% A call of the function has begun.
enter(Entry, Base, Exact, Ts, #p{root = Root, owner = Owner} = P, S) ->
    {Node, S1} = calltree_stack:child(Root, Entry, S),
    calltree_stack:weigh(Owner, Node, 3, 1),
    calltree_stack:keep(P#p{entry = Entry, stack = [{Entry, Node, real}], base = Base, exact = Exact, class = run, last = Ts, since = Ts, idle = 0}, S1).
