%% The result of a call tree recording: rows of nodes, totals, and the functions that wait for messages.
-module(calltree_result).
-export([tree_result/1, tails_of/1]).
-include("calltree.hrl").

tree_result(#s{to = To, tracing = Tracing, procs = Procs, entries = Entries} = S) ->
    calltree_pauses:quieten_all(S),
    [tracing:quieten(Pid, Tracing) || Pid <- maps:keys(Procs)],
    Total = tracing:all_counted(Entries, Tracing),
    Backlog = budgets:events_left(0),
    Now = erlang:monotonic_time(nanosecond),
    Last = lists:foldl(fun(P, Acc) -> unfinished(P, Now, Acc) end, S, maps:values(Procs)),
    tracing:close_tracing(Tracing),
    Waits = waits(get(nodes)),
    send_nodes(To, nodes, get(nodes), get(weights), Waits),
    Slowest = case Last#s.slowest of
        none -> none;
        {Took, Pid, Weights} ->
            send_nodes(To, slowest, get(nodes), Weights, Waits),
            #{took_ns => Took, pid => Pid}
    end,
    #{stopped_by => S#s.stop, events => S#s.events, events_dropped => Backlog, calls => Last#s.calls, calls_cut => Last#s.cut,
        calls_on_node => Total, calls_per_second => S#s.rate, windows => S#s.windows,
        elapsed_ns => Now - S#s.started, seen_ns => max(0, Last#s.seen - Last#s.unseen), unseen_ns => Last#s.unseen,
        nodes => S#s.count, unplaced => S#s.unplaced, not_followed => S#s.not_followed,
        gc_traced => map_get(gc, Tracing), slowest => Slowest}.

%% Counts the time of a call that has not ended, but not the call itself.
unfinished(#p{open = false, stack = []}, _, S) -> S;
unfinished(#p{owner = Owner, pid = Pid} = P, End, S) ->
    %% If the last events of an ended process came too late, nothing is known after its last event.
    Now = case process_info(Pid, status) of undefined -> P#p.last; _ -> End end,
    Unseen = case S#s.pausing of
        false -> calltree_stack:elapse(P, Now), 0;
        true -> Now - P#p.last
    end,
    calltree_stack:settle(P, S),
    S1 = S#s{unseen = S#s.unseen + Unseen},
    Took = Now - P#p.since,
    if
        not P#p.open -> S1#s{seen = S#s.seen + Took, cut = S#s.cut + 1};
        Owner =:= Pid -> S1#s{seen = S#s.seen + Took};
        true -> S
    end.

%% `{Id, Parent, Key, Calls, RunNs, WaitNs, RunnableNs, GcNs}`, parents first. Scheduled-out time belongs to
%% the function itself.
send_nodes(To, What, Nodes, Weights, Waits) ->
    Sorted = lists:sort([{Id, Parent, Key} || {{Parent, Key}, Id} <- maps:to_list(Nodes)]),
    Rows = [node_row(Id, Parent, Key, Weights, Waits) || {Id, Parent, Key} <- Sorted],
    request:send_rows(To, What, [Row || Row <- Rows, What =:= nodes orelse is_heavy(Row)]).

is_heavy({_, _, _, Calls, Run, Wait, Runnable, Gc}) -> Calls + Run + Wait + Runnable + Gc > 0.

node_row(Id, Parent, Key, Weights, Waits) ->
    [Run, Off, Gc, Calls] = [maps:get(Id bsl 2 bor Kind, Weights, 0) || Kind <- [0, 1, 2, 3]],
    case Key of
        {off, MFA} ->
            %% Without the code: a wait for a scheduler never takes a millisecond on average.
            Waited = case maps:get(MFA, Waits, true) of
                unknown -> Off > Calls * 1000000;
                Known -> Known
            end,
            case Waited of
                true -> {Id, Parent, {off, MFA}, Calls, Run, Off, 0, Gc};
                false -> {Id, Parent, {off, MFA}, Calls, Run, 0, Off, Gc}
            end;
        _ -> {Id, Parent, Key, Calls, Run, Off, 0, Gc}
    end.

%% ---- The code of a function ----

%% Decides for each function that was scheduled out whether it waits for messages there. Otherwise its time
%% slice had ended, and it was runnable.
waits(Nodes) ->
    Functions = lists:usort([MFA || {_, {off, MFA}} <- maps:keys(Nodes)]),
    maps:from_list([{MFA, is_waiting(MFA)} || MFA <- Functions]).

is_waiting({erlang, Name, _}) -> lists:member(Name, [hibernate, port_command, send, dist_ctrl_get_data]);
is_waiting({prim_inet, _, _}) -> true;
is_waiting({erts_internal, Name, _}) -> lists:prefix("await", atom_to_list(Name));
is_waiting({_, _, _} = MFA) ->
    case code_of(MFA) of
        unknown -> unknown;
        Code -> lists:any(fun is_receive/1, Code)
    end;
is_waiting(_) -> true.

is_receive(Instruction) when is_tuple(Instruction) ->
    lists:member(element(1, Instruction), [loop_rec, wait, wait_timeout]);
is_receive(_) -> false.

%% The functions that each entry tail-calls.
tails_of(Entries) ->
    maps:from_list([{Entry, tails_in(code_of(Entry))} || Entry <- Entries]).

tails_in(unknown) -> [];
tails_in(Code) ->
    lists:usort(lists:append([tail_in(Instruction) || Instruction <- Code])).

tail_in({call_only, _, {_, _, _} = MFA}) -> [MFA];
tail_in({call_last, _, {_, _, _} = MFA, _}) -> [MFA];
tail_in({call_ext_only, _, {extfunc, M, F, A}}) -> [{M, F, A}];
tail_in({call_ext_last, _, {extfunc, M, F, A}, _}) -> [{M, F, A}];
tail_in(_) -> [].

%% A function's code from its module's file, disassembled in a separate process.
code_of({Module, Name, Arity}) ->
    Self = self(),
    Work = fun() -> Self ! {self(), disassembled(Module, Name, Arity)} end,
    {Pid, Monitor} = spawn_opt(Work, [monitor | request:limits(134217728)]),
    receive
        {Pid, Code} -> erlang:demonitor(Monitor, [flush]), Code;
        {'DOWN', Monitor, _, _, _} -> unknown
    end.

disassembled(Module, Name, Arity) ->
    case code:get_object_code(Module) of
        {_, Beam, _} ->
            case beam_disasm:file(Beam) of
                {beam_file, _, _, _, _, Functions} ->
                    case [Code || {function, F, A, _, Code} <- Functions, F =:= Name, A =:= Arity] of
                        [Code] -> Code;
                        _ -> unknown
                    end;
                _ -> unknown
            end;
        error -> unknown
    end.
