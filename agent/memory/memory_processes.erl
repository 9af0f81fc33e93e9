%% Processes of the node: their memory, their share of large binaries, and their mailboxes.
-module(memory_processes).
-export([walk/2]).

%% Calls Each({Pid, Role, Memory, Binaries, Mailbox}) for the processes of the node, and returns
%% `#{seen, unanswered, unlisted, left}`: the number of processes, those that did not answer (a process that holds its
%% scheduler in native code), those with too many binaries to list, and the number of those after the deadline.
%%
%% A separate process with a bounded heap asks them in groups, because some have long lists of binaries. If a group
%% fails, its processes are asked one by one.
walk(Deadline, Each) ->
    in_groups(processes(), Deadline, Each, #{seen => 0, unanswered => [], unlisted => [], left => 0}).

in_groups([], _, _, Result) -> Result;
in_groups(Pids, Deadline, Each, Result) ->
    case erlang:monotonic_time(millisecond) > Deadline of
        true -> Result#{left => length(Pids)};
        false ->
            {Group, Rest} = lists:split(length(lists:sublist(Pids, 50)), Pids),
            Now = ask_group(Group, Each, Result),
            erlang:yield(),
            in_groups(Rest, Deadline, Each, Now)
    end.

ask_group(Group, Each, Result) ->
    case asked(Group, [memory, message_queue_len, registered_name, initial_call, dictionary, binary], 500) of
        failed -> lists:foldl(fun (Pid, Now) -> ask_one(Pid, Each, Now) end, Result, Group);
        Rows -> found(Rows, Each, Result)
    end.

ask_one(Pid, Each, Result) ->
    case asked([Pid], [memory, message_queue_len, registered_name, initial_call, dictionary, binary], 200) of
        failed ->
            case asked([Pid], [memory, message_queue_len], 200) of
                failed -> maps:update_with(unanswered, fun (Others) -> [Pid | Others] end, Result);
                Rows -> maps:update_with(unlisted, fun (Others) -> [Pid | Others] end, found(Rows, Each, Result))
            end;
        Rows -> found(Rows, Each, Result)
    end.

found(Rows, Each, #{seen := Seen} = Result) ->
    lists:foreach(Each, Rows),
    Result#{seen => Seen + length(Rows)}.

asked(Pids, Items, WithinMs) ->
    Limit = #{size => 8388608, kill => true, error_logger => false},
    {Asker, Monitor} = spawn_opt(fun () ->
        exit({rows, [Row || Pid <- Pids, Row <- [row_of(Pid, process_info(Pid, Items))], Row =/= gone]})
    end, [monitor, {max_heap_size, Limit}]),
    receive
        {'DOWN', Monitor, process, _, {rows, Rows}} -> Rows;
        {'DOWN', Monitor, process, _, _} -> failed
    after WithinMs ->
        exit(Asker, kill),
        demonitor(Monitor, [flush]),
        failed
    end.

row_of(_, undefined) -> gone;
row_of(Pid, [{_, Memory}, {_, Mailbox}]) -> {Pid, unknown, Memory, 0, Mailbox};
row_of(Pid, [{_, Memory}, {_, Mailbox}, {_, Name}, {_, Initial}, {_, Dictionary}, {_, Binaries}]) ->
    {Pid, role_in(Name, Initial, Dictionary), Memory, share_of(Binaries), Mailbox}.

role_in(Name, Initial, Dictionary) ->
    Started = case lists:keyfind('$initial_call', 1, Dictionary) of
        {_, {_, _, _} = MFA} -> MFA;
        _ -> Initial
    end,
    roles:role_of(if is_atom(Name) -> Name; true -> none end, Started, proplists:get_value('$ancestors', Dictionary, [])).

%% Each reference is listed once, and counts as its part of the binary. So all holders together have a binary once.
share_of(Binaries) -> round(lists:sum([Size / max(1, References) || {_, Size, References} <- Binaries])).
