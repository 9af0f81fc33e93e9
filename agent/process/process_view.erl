%% One process: its figures, linked and monitored processes, stack, kinds of messages, keys of its dictionary.
%%
%% No content of a message and no value of the dictionary leaves the node. Reading messages copies them, so those of a
%% long mailbox are not read.
-module(process_view).
-export([view/1]).

view(Pid) ->
    Items = [registered_name, status, message_queue_len, memory, total_heap_size, stack_size, reductions, priority, trap_exit,
        message_queue_data, links, monitors, monitored_by, current_stacktrace],
    case view_answer(fun () -> process_info(Pid, Items) end) of
        no_answer -> throw({refused, no_answer, <<"the process does not answer: it holds a scheduler in native code, or waits for one">>});
        undefined -> throw({refused, no_such_process, <<"the process has ended">>});
        Infos -> maps:merge(view_figures(Infos), view_contents(Pid, Infos))
    end.

%% Evaluates in a separate process, with 16 MiB and two seconds.
view_answer(Work) ->
    Limit = #{size => 2097152, kill => true, error_logger => false},
    {Asker, Monitor} = spawn_opt(fun () -> exit({answer, Work()}) end, [monitor, {max_heap_size, Limit}]),
    receive
        {'DOWN', Monitor, process, _, {answer, Answer}} -> Answer;
        {'DOWN', Monitor, process, _, _} -> no_answer
    after 2000 ->
        exit(Asker, kill),
        demonitor(Monitor, [flush]),
        no_answer
    end.

view_figures(Infos) ->
    Of = fun (Key) -> proplists:get_value(Key, Infos) end,
    Words = erlang:system_info(wordsize),
    #{status => Of(status), mailbox => Of(message_queue_len), memory => Of(memory), heap => Of(total_heap_size) * Words,
        stack_bytes => Of(stack_size) * Words, reductions => Of(reductions), priority => Of(priority), trap_exit => Of(trap_exit),
        message_queue_data => Of(message_queue_data),
        links => some_names(Of(links)), links_count => length(Of(links)),
        monitors => some_names([Other || {_, Other} <- Of(monitors)]), monitors_count => length(Of(monitors)),
        monitored_by => some_names(Of(monitored_by)), monitored_by_count => length(Of(monitored_by)),
        stack => [{M, F, A, proplists:get_value(line, Where, 0)} || {M, F, A, Where} <- Of(current_stacktrace)]}.

some_names(Others) -> [process_waits:other_name(Other) || Other <- lists:sublist(Others, 20)].

view_contents(Pid, Infos) ->
    #{pid => Pid, role => roles:shown_role(Pid), name => roles:process_name(Pid), waits => process_waits:chain(Pid),
        dictionary => keys_of(Pid, proplists:get_value(memory, Infos)), binaries => binaries_of_one(Pid),
        messages => message_kinds(Pid, proplists:get_value(message_queue_len, Infos), proplists:get_value(memory, Infos))}.

%% Reading copies the whole dictionary, so that of a large process is not read.
keys_of(_, Memory) when Memory > 8388608 -> unknown;
keys_of(Pid, _) ->
    case view_answer(fun () ->
        {dictionary, Dictionary} = process_info(Pid, dictionary),
        lists:sublist(lists:usort([kind_of(Key) || {Key, _} <- Dictionary]), 100)
    end) of
        Keys when is_list(Keys) -> Keys;
        _ -> unknown
    end.

binaries_of_one(Pid) ->
    case view_answer(fun () ->
        {binary, Found} = process_info(Pid, binary),
        {length(Found), lists:sum([Size || {_, Size, _} <- lists:usort(Found)])}
    end) of
        {_, _} = Counted -> Counted;
        _ -> unknown
    end.

%% `[{Kind, Count}]`, the most frequent first; `not_read` for a long or large mailbox.
message_kinds(_, Length, Memory) when Length > 1000; Memory > 8388608 -> not_read;
message_kinds(Pid, _, _) ->
    case view_answer(fun () ->
        {messages, Messages} = process_info(Pid, messages),
        Counts = lists:foldl(fun (Message, Sums) -> maps:update_with(kind_of(Message), fun (Count) -> Count + 1 end, 1, Sums) end, #{}, Messages),
        lists:sublist(lists:reverse(lists:keysort(2, maps:to_list(Counts))), 20)
    end) of
        Kinds when is_list(Kinds) -> Kinds;
        _ -> not_read
    end.

%% The form of a term, by the atoms at its first positions. Nothing else is shown.
kind_of(Term) -> iolist_to_binary(kind_text(Term)).

kind_text(Atom) when is_atom(Atom) -> io_lib:format("~tp", [Atom]);
kind_text({'$gen_call', _, Request}) -> ["{'$gen_call', ", tag_text(Request), "}"];
kind_text({'$gen_cast', Request}) -> ["{'$gen_cast', ", tag_text(Request), "}"];
kind_text({'$gen_cast', _, Request}) -> ["{'$gen_cast', ", tag_text(Request), "}"];
kind_text(Other) -> tag_text(Other).

tag_text(Tuple) when tuple_size(Tuple) > 0, is_atom(element(1, Tuple)) ->
    [io_lib:format("{~tp", [element(1, Tuple)]), [", _" || _ <- lists:seq(2, min(8, tuple_size(Tuple)))], "}"];
tag_text(Atom) when is_atom(Atom) -> io_lib:format("~tp", [Atom]);
tag_text(Tuple) when is_tuple(Tuple) -> io_lib:format("a tuple of ~b", [tuple_size(Tuple)]);
tag_text(Binary) when is_binary(Binary) -> "a binary";
tag_text(List) when is_list(List) -> "a list";
tag_text(Map) when is_map(Map) -> "a map";
tag_text(Number) when is_number(Number) -> "a number";
tag_text(_) -> "another term".
