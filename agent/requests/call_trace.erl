%% The request `trace`: single calls of a function, with caller and duration.
%%
%% It ends by itself after `max_events` calls, `duration_ms` or `max_bytes`. The node copies arguments and
%% results before this module can cut them, so they are traced only on request.
%%
%% Calls are admitted. The trace control word holds the number of further calls that may be reported, and the
%% match specification of the function decrements it in place. So only admitted calls are running or in the
%% mailbox, however often the function is called. The next are admitted after those have been processed.
-module(call_trace).
-export([calls/1]).

-record(c, {
    to, tracing, budget, args, functions, open = #{}, roles = #{}, seen = 0, dropped = 0, bytes = 0, started,
    narrowed = false, flagged = 0, rate = 0, stop = none, at_once,
    logged_in = #{}     % connections whose login is over, with the time of that reading
}).

calls(#{args := Args} = To) ->
    Budget = budgets:budget(To, #{max_events => 100, max_bytes => 4194304, duration_ms => 10000, max_mailbox => 10000,
        max_node_memory_bytes => 50331648}),
    Pattern = tracing:pattern_of(Args),
    Functions = tracing:must_exist(Pattern),
    Head = argument_patterns:head_of(Args),
    argument_patterns:may_match(Head, Pattern, Functions),
    process_selection:known_role(Args),
    secrets:start_secrets(),
    LoggedIn = logged_in(),
    Tracing = tracing:open_tracing(To),
    tracing:refuse_patterned(Tracing, Pattern),
    {Rate, Counting} = tracing:call_rate(Args, Functions, 150, Tracing),
    refuse_rate(Rate, Args),
    Asked = case maps:get(return, Args, false) of true -> [{exception_trace}]; false -> [] end,
    Taken = tracing:take_word(Counting),
    Spec = admitting(Head, Asked ++ [{message, {caller}}], Taken),
    Armed = tracing:set_pattern(Pattern, Spec, [local], Taken),
    Before = tracing:all_counted(Functions, Armed),
    State = #c{to = To, tracing = Armed, budget = Budget, args = Args, functions = Functions, rate = Rate,
        at_once = at_once(Args), logged_in = LoggedIn, started = erlang:monotonic_time(nanosecond)},
    budgets:start_clocks(Budget),
    admit_calls(State),
    Flagged = flag_processes(State),
    tracing:still_alone(Armed),
    Ended = calls_loop(Flagged),
    calls_result(Ended, Before).

%% Number of calls admitted at a time; few if whole terms are copied, because these may be large.
at_once(#{args := true}) -> 32;
at_once(#{return := true}) -> 32;
at_once(_) -> 1000.

%% Admits as many calls as the trace control word is above 1. Two schedulers that decrement it at the same moment
%% may count once, or take it below 0, which is a very large number.
admitting(Head, Asked, #{word := true}) ->
    Room = [{'>', {get_tcw}, 1}, {'<', {get_tcw}, 1000000}],
    [{Head, Room, [{set_tcw, {'-', {get_tcw}, 1}} | Asked]}];
admitting(Head, Asked, _) -> [{Head, [], Asked}].

admit_calls(#c{tracing = #{word := true} = Tracing, seen = Seen, at_once = AtOnce, budget = #{max_events := Most}}) ->
    tracing:set_word(1 + max(0, min(AtOnce, Most - Seen)), Tracing);
admit_calls(_) -> ok.

%% Admits more calls after those admitted before have arrived and been processed.
admit_more(#c{tracing = #{word := true}} = S) ->
    Left = erlang:system_info(trace_control_word),
    AllCame = Left =< 1 orelse Left >= 1000000,
    AllCame andalso budgets:mailbox() < 8 andalso admit_calls(S),
    S;
admit_more(S) -> S.

refuse_rate(Rate, #{max_rate := Most}) when Rate > Most ->
    throw({refused, too_many_calls, io_lib:format(
        "~b calls a second exceed the limit of ~b; name a process or a role, or raise the limit", [Rate, Most])});
refuse_rate(_, _) -> ok.

%% Sets flags on processes that may make the call. For a very frequent function, processes get flags in random order
%% until one of them calls it.
flag_processes(#c{args = Args, rate = Rate, tracing = Tracing} = S) ->
    Flags = call_flags(Args),
    case Args of
        #{who := Who} ->
            Pids = lists:sublist(process_selection:chosen(Who), 1000),
            [tracing:flag(Pid, true, Flags, Tracing) || Pid <- Pids],
            S#c{flagged = length(Pids)};
        _ ->
            tracing:flag(new_processes, true, Flags, Tracing),
            Keyed = lists:sort([{erlang:phash2({Pid, S#c.started}), Pid} || Pid <- processes(), Pid =/= self(), is_in_role(Pid, Args)]),
            flag_some([Pid || {_, Pid} <- Keyed], Flags, Rate > 1000, S)
    end.

is_in_role(Pid, #{role := Role}) -> atom_to_binary(roles:role(Pid), utf8) =:= Role;
is_in_role(_, _) -> true.

flag_some([], _, _, S) -> S;
flag_some(Pids, Flags, Careful, #c{tracing = Tracing} = S) ->
    {Now, Later} = lists:split(min(16, length(Pids)), Pids),
    [tracing:flag(Pid, true, Flags, Tracing) || Pid <- Now],
    Flagged = S#c{flagged = S#c.flagged + length(Now)},
    case Careful andalso is_called() of
        true ->
            tracing:flag(new_processes, false, [all], Tracing),
            Flagged#c{narrowed = Later =/= []};
        false -> flag_some(Later, Flags, Careful, Flagged)
    end.

%% Returns whether a call is in the mailbox, among other messages.
is_called() ->
    case budgets:mailbox() of
        Few when Few < 100 ->
            {messages, Messages} = process_info(self(), messages),
            lists:any(fun(Message) -> element(1, Message) =:= trace_ts end, [M || M <- Messages, is_tuple(M)]);
        _ -> true
    end.

%% Results need the arguments, too: `maps:get(password, Settings)` shows by its argument that the result is secret.
call_flags(Args) ->
    Asked = maps:get(args, Args, false) orelse maps:get(return, Args, false),
    Arity = if Asked -> []; true -> [arity] end,
    Return = case maps:get(return, Args, false) of true -> []; false -> [return_to] end,
    [call, monotonic_timestamp] ++ Arity ++ Return.

calls_loop(#c{stop = none} = S) ->
    receive
        {trace_ts, Pid, call, What, Caller, Ts} -> calls_loop(enough(admit_more(made(Pid, What, Caller, Ts, S))));
        {trace_ts, Pid, return_to, Where, Ts} -> calls_loop(enough(gone_back(Pid, Where, Ts, S)));
        {trace_ts, Pid, return_from, _, Value, Ts} -> calls_loop(enough(finished(Pid, {returned, Value}, Ts, S)));
        {trace_ts, Pid, exception_from, _, {Class, Value}, Ts} -> calls_loop(enough(finished(Pid, {Class, Value}, Ts, S)));
        %% After the last admitted call, running ones have some time to return.
        time_is_up -> S#c{stop = case S#c.narrowed of ended -> max_events; _ -> duration end};
        cancel -> S#c{stop = cancelled};
        {credit, N} -> request:add_credit(N), calls_loop(S);
        look_at_memory ->
            %% For this request `max_bytes` limits the sent bytes.
            case budgets:over_memory(maps:remove(max_bytes, S#c.budget)) of
                none -> calls_loop(admit_more(S));
                Stop -> S#c{stop = Stop}
            end;
        _ -> calls_loop(S)
    end;
calls_loop(S) -> S.

%% Ends after `max_events` calls, including running ones.
enough(#c{budget = #{max_events := Events, max_bytes := Bytes, max_mailbox := Mailbox}} = S) ->
    Full = S#c.seen >= Events,
    Busy = Full andalso map_size(S#c.open) > 0,
    Behind = budgets:mailbox() > Mailbox,
    if
        Full, not Busy -> S#c{stop = max_events};
        S#c.bytes >= Bytes -> S#c{stop = max_bytes};
        Behind -> S#c{stop = max_mailbox};
        Full, S#c.narrowed =/= ended -> S#c{narrowed = stop_calls(S)};
        true -> S
    end.

%% Admits no more calls; running ones may still return.
stop_calls(#c{tracing = Tracing, functions = Functions, args = Args, narrowed = Narrowed} = S) ->
    admit_calls(S),
    tracing:drop_pattern(tracing:pattern_of(Args), [local], Tracing),
    put(calls_at_end, tracing:all_counted(Functions, Tracing)),
    put(narrowed, Narrowed),
    erlang:send_after(min(2000, maps:get(duration_ms, S#c.budget)), self(), time_is_up),
    ended.

made(_, _, _, _, #c{seen = Seen, budget = #{max_events := Most}} = S) when Seen >= Most ->
    S#c{dropped = S#c.dropped + 1};
made(Pid, What, Caller, Ts, #c{open = Open, args = Args} = S) ->
    {Role, Name, S1} = described(Pid, S),
    case is_wanted(Role, Caller, Args) of
        false -> S1;
        true ->
            {Guard, S2} = guard_of(Pid, What, Caller, Ts, S1),
            {MFA, Text} = shown(What, Guard, Args),
            Call = #{pid => Pid, role => Role, name => Name, function => MFA, caller => Caller, args => Text,
                at_ns => Ts - S#c.started, start => Ts, guard => guard_of_result(Guard, What)},
            S2#c{open = Open#{Pid => [Call | maps:get(Pid, Open, [])]}, seen = S#c.seen + 1, bytes = S#c.bytes + byte_size(Text)}
    end.

described(Pid, #c{roles = Roles} = S) ->
    case Roles of
        #{Pid := {Role, Name}} -> {Role, Name, S};
        _ ->
            {Role, Name} = {roles:role(Pid), roles:process_name(Pid)},
            {Role, Name, S#c{roles = Roles#{Pid => {Role, Name}}}}
    end.

is_wanted(Role, Caller, Args) ->
    RightRole = case Args of #{role := Wanted} -> atom_to_binary(Role, utf8) =:= Wanted; _ -> true end,
    RightRole andalso case Args of
        #{caller := #{module := M} = From} ->
            is_tuple(Caller) andalso atom_to_binary(element(1, Caller), utf8) =:= M
                andalso (not is_map_key(function, From) orelse atom_to_binary(element(2, Caller), utf8) =:= map_get(function, From));
        _ -> true
    end.

%% The permission to show a call. `hidden`: nothing; `true`: no text that stands alone; `false`: everything without a
%% secret.
guard_of(Pid, {M, F, _} = MFA, Caller, Ts, S) ->
    case secrets:is_secret_function(M, F) orelse secrets:is_secret_call(Caller) of
        true -> {hidden, S};
        false ->
            {LoggingIn, S1} = is_logging_in(Pid, Ts, S),
            {LoggingIn orelse secrets:is_parser(MFA) orelse secrets:is_parser(Caller), S1}
    end.

%% Returns whether the process was serving a login at the time of the call, which is earlier than now.
is_logging_in(Pid, Ts, #c{logged_in = Known} = S) ->
    case Known of
        #{Pid := never} -> {false, S};
        #{Pid := Since} when is_integer(Since) -> {Ts < Since, S};
        #{} ->
            Since = case secrets:is_login_process(Pid) of
                false -> never;
                true -> case secrets:is_logged_in(Pid) of true -> erlang:monotonic_time(nanosecond); false -> unknown end
            end,
            {Since =/= never, if Since =:= unknown -> S; true -> S#c{logged_in = Known#{Pid => Since}} end}
    end.

%% Connections whose login was over before tracing began.
logged_in() ->
    Now = erlang:monotonic_time(nanosecond),
    maps:from_list([{Pid, Now} || Pid <- processes(), secrets:is_logged_in(Pid)]).

%% Hides the result of a call whose arguments name a secret, or a module that authenticates.
guard_of_result(Guard, {_, _, Values}) when is_list(Values) ->
    case lists:any(fun asks_secret/1, Values) of true -> hidden; false -> Guard end;
guard_of_result(Guard, _) -> Guard.

asks_secret(Value) when is_tuple(Value), tuple_size(Value) =< 64 -> lists:any(fun secrets:is_secret_module/1, tuple_to_list(Value));
asks_secret(Value) -> secrets:is_secret(Value) orelse secrets:is_secret_module(Value).

shown({M, F, Arity}, _, _) when is_integer(Arity) -> {{M, F, Arity}, <<>>};
shown({M, F, Values}, Guard, Args) ->
    Text = case maps:get(args, Args, false) of
        false -> <<>>;
        true when Guard =:= hidden -> <<"[not shown: authentication]">>;
        true -> arguments_text(Values, Guard)
    end,
    {{M, F, length(Values)}, Text}.

%% The process continues in the function `Where`, so the innermost call from there has ended with all calls within it.
%% It has returned, or it has failed and `Where` has caught the failure; the event does not say which. A call that
%% ended in a tail call has the same caller as that call, and ends with it.
gone_back(Pid, Where, Ts, #c{open = Open} = S) ->
    Calls = maps:get(Pid, Open, []),
    Inner = lists:takewhile(fun(#{caller := Caller}) -> Caller =/= Where end, Calls),
    Ended = if length(Inner) =:= length(Calls) -> 1; true -> length(Inner) + 1 end,
    Tails = case Calls of [] -> 0; _ -> tail_callers(lists:nthtail(Ended - 1, Calls)) end,
    lists:foldl(fun(_, Now) -> finished(Pid, none, Ts, Now) end, S, lists:seq(1, Ended + Tails)).

%% The number of calls, from the second on, that ended in a tail call of the one before.
tail_callers([#{caller := Caller, function := Inner} | [#{caller := Caller, function := Outer} | _] = Others]) ->
    case lists:member(Inner, tails_reached(Outer)) of
        true -> 1 + tail_callers(Others);
        false -> 0
    end;
tail_callers(_) -> 0.

%% Functions that a function tail-calls according to its code, directly or through few others.
tails_reached(MFA) ->
    case get({tails, MFA}) of
        undefined ->
            Found = tails_reached([MFA], [], 8),
            put({tails, MFA}, Found),
            Found;
        Known -> Known
    end.

tails_reached([], Found, _) -> Found;
tails_reached(_, Found, 0) -> Found;
tails_reached([{M, _, _} = MFA | Rest], Found, Left) ->
    New = maps:get(MFA, calltree_result:tails_of([MFA])) -- Found,
    %% Other modules are not followed.
    tails_reached(Rest ++ [Next || {Of, _, _} = Next <- New, Of =:= M, Next =/= MFA], New ++ Found, Left - 1).

%% The innermost call of the process has ended.
finished(Pid, Outcome, Ts, #c{open = Open} = S) ->
    case Open of
        #{Pid := [#{start := Start, guard := Guard} = Call | Outer]} ->
            {Kind, Text} = outcome(Outcome, Guard),
            request:event(S#c.to, (maps:without([start, guard], Call))#{took_ns => Ts - Start, outcome => Kind, result => Text}),
            Left = case Outer of [] -> maps:remove(Pid, Open); _ -> Open#{Pid := Outer} end,
            S#c{open = Left, bytes = S#c.bytes + byte_size(Text)};
        _ -> S
    end.

outcome(none, _) -> {ended, <<>>};
outcome({Kind, _}, hidden) -> {Kind, <<"[not shown: authentication]">>};
outcome({Kind, Value}, Guard) -> {Kind, term_text(Value, Guard)}.

calls_result(#c{to = To, tracing = Tracing, functions = Functions} = S, Before) ->
    AtEnd = case get(calls_at_end) of undefined -> tracing:all_counted(Functions, Tracing); Count -> Count end,
    tracing:close_tracing(Tracing),
    Under = lists:append(maps:values(S#c.open)),
    %% Without results, an exception that the caller does not catch makes no event.
    Outcome = case S#c.args of #{return := true} -> not_returned; _ -> no_end_seen end,
    [request:event(To, (maps:without([start, guard], Call))#{took_ns => none, outcome => Outcome, result => <<>>}) || Call <- lists:reverse(Under)],
    Narrowed = case S#c.narrowed of ended -> get(narrowed); Known -> Known end,
    #{stopped_by => S#c.stop, calls => S#c.seen, calls_on_node => AtEnd - Before, calls_per_second => S#c.rate,
        calls_dropped => S#c.dropped + budgets:events_left(0), narrowed => Narrowed, processes => S#c.flagged,
        elapsed_ns => erlang:monotonic_time(nanosecond) - S#c.started}.

%% ---- Terms as text: cut and redacted (secrets.erl) ----

term_text(Term, Guarded) ->
    {Safe, _} = secrets:redacted(Term, 6, 300, Guarded),
    printed(Safe).

%% Arguments are a list of things, never a text.
arguments_text(Values, Guarded) ->
    {Safe, _} = secrets:redacted_items(Values, 6, 300, Guarded),
    printed(Safe).

%% Checks the finished text once more, for known secrets and for a login in an address that was assembled from parts.
printed(Safe) ->
    Text = unicode:characters_to_binary(io_lib:format("~0tP", [Safe, 40], [{chars_limit, 600}])),
    secrets:without_login(binary:replace(Text, get(learned), <<"[redacted]">>, [global])).
