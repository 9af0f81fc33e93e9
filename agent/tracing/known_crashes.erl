%% Refuses trace operations that are known to crash the running version of the VM.
-module(known_crashes).
-export([pass_gate/1, known_crash/2, erts_version/1, pass_flags/1, pass_pattern/2]).

%% Operation, first affected version of ERTS, first fixed version (`none` without a fix), issue, words. All versions in
%% between count as affected: a branch that was fixed earlier loses a probe, but no node.
known_crashes() ->
    [
        {all_processes, [0], [14, 2, 5, 5], "erlang/otp#8286", "to trace all processes in one go"},
        {restarted_times, [0], [14, 2, 5, 5], "erlang/otp#8835", "to restart times that are being counted"},
        {restarted_times, [15], [15, 1, 2], "erlang/otp#8835", "to restart times that are being counted"},
        {call_times, [10, 6], [11], "erlang/otp#4635", "to count the times of functions"},
        {collections_twice, [15], none, "erlang/otp#11624", "to trace collections in two trace sessions"}
    ].

%% Refuses an operation that crashes this version, with a message of one line.
pass_gate(What) ->
    case known_crash(What, erts_version(erlang:system_info(version))) of
        none -> ok;
        Line -> throw({refused, known_crash, Line})
    end.

known_crash(What, Version) ->
    Here = [{Issue, Words} || {Known, From, Mended, Issue, Words} <- known_crashes(), Known =:= What,
        Version >= From, Mended =:= none orelse Version < Mended],
    case Here of
        [] -> none;
        [{Issue, Words} | _] ->
            io_lib:format("the node runs ERTS ~s, which may crash when it is asked ~s (~s); rabbitscope does not",
                [lists:join(".", [integer_to_list(Part) || Part <- Version]), Words, Issue])
    end.

%% `13.1.5` as [13, 1, 5], without text after a number, as in `15.0-rc1`.
erts_version(Text) ->
    [Number || Part <- string:lexemes(Text, "."), {Number, _} <- [string:to_integer(Part)], is_integer(Number)].

%% Checks the target of trace flags. A pid and `new_processes` are safe; the other words stand for all processes.
pass_flags(Pid) when is_pid(Pid); Pid =:= new_processes -> ok;
pass_flags(_) -> pass_gate(all_processes).

%% Checks a trace pattern: its match specification or action, and its kinds.
pass_pattern(Spec, Kinds) ->
    Timed = [Kind || Kind <- Kinds, Kind =:= call_time orelse Kind =:= call_memory],
    Timed =/= [] andalso Spec =/= false andalso pass_gate(call_times),
    Timed =/= [] andalso lists:member(Spec, [restart, pause]) andalso pass_gate(restarted_times),
    ok.
