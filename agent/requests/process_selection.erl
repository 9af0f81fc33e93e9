%% Finds the processes that a request names: by pid, registered name, role, queue or supervision tree.
-module(process_selection).
-export([chosen/1, longest_mailbox/1, quorum_queues/0, busiest_of/1, known_role/1, reductions_of/1, worked/2]).

%% The processes that `Who` names.
chosen(Who) ->
    known_role(Who),
    Found = case Who of
        #{pid := Text} -> [roles:local_pid(Text)];
        #{registered := Name} -> [whereis_binary(Name)];
        #{role := Role} -> [Pid || Pid <- processes(), atom_to_binary(roles:role(Pid), utf8) =:= Role];
        #{queue := Name} -> [queue_process(Name, maps:get(vhost, Who, any))];
        #{tree := Name} -> tree(whereis_binary(Name), 0)
    end,
    case [Pid || Pid <- Found, is_pid(Pid), Pid =/= self()] of
        [] -> throw({refused, no_such_process, io_lib:format("no process on the node is ~ts", [who(Who)])});
        Pids -> Pids
    end.

who(#{pid := Text}) -> Text;
who(#{registered := Name}) -> ["registered as ", Name];
who(#{role := Role}) -> ["in the role ", Role];
who(#{tree := Name}) -> ["a supervisor registered as ", Name].

%% The process of a queue on this node: the member of a quorum queue, the writer of a stream.
queue_process(Name, VHost) ->
    Head = queue_table:queue_head([{name, {resource, '$1', queue, Name}}, {pid, '$2'}]),
    Guard = if VHost =:= any -> []; true -> [{'=:=', '$1', {const, VHost}}] end,
    case ets:select(queue_table:queue_table(), [{Head, Guard, [{{'$1', '$2'}}]}]) of
        [] -> no_queue_process(["no queue is called ", Name, [[" in the virtual host ", VHost] || VHost =/= any]]);
        [{In, Process}] ->
            case broker_tables:local(Process) of
                none -> no_queue_process(["the queue ", Name, " in the virtual host ", In, " has no process on this node", elsewhere(Process)]);
                Pid -> Pid
            end;
        Found ->
            no_queue_process([integer_to_list(length(Found)), " queues are called ", Name, ", in the virtual hosts ",
                lists:join(", ", lists:sublist(lists:sort([In || {In, _} <- Found]), 8)), [" …" || length(Found) > 8],
                "; choose one with --vhost"])
    end.

%% The number of messages in the longest of these mailboxes.
longest_mailbox(Pids) ->
    lists:max([0 | [Count || Pid <- Pids, {_, Count} <- [process_info(Pid, message_queue_len)]]]).

%% Names of quorum queues, by the registered names of their processes.
quorum_queues() ->
    Specification = [{queue_table:queue_head([{name, {resource, '_', queue, '$1'}}, {pid, {'$2', '_'}}]), [], [{{'$2', '$1'}}]}],
    queue_table:in_pieces(queue_table:queue_table(), Specification, fun (Found, Known) ->
        lists:foldl(fun ({Registered, Name}, Names) -> Names#{atom_to_binary(Registered, utf8) => Name} end, Known, Found)
    end, #{}).

no_queue_process(Text) -> throw({refused, no_such_process, Text}).

elsewhere(Pid) when is_pid(Pid) -> [", but on ", atom_to_list(node(Pid))];
elsewhere({_, Node}) -> [", but on ", atom_to_list(Node)];
elsewhere(_) -> "".

whereis_binary(Name) ->
    try whereis(binary_to_existing_atom(Name, utf8)) catch error:badarg -> none end.

%% The processes of a supervision tree, including its supervisors. RabbitMQ's trees have fewer than eight levels.
tree(Pid, Depth) when is_pid(Pid), Depth < 8 ->
    [Pid | case roles:role(Pid) of
        supervisor ->
            Children = try supervisor:which_children(Pid) catch _:_ -> [] end,
            lists:append([tree(Child, Depth + 1) || {_, Child, _, _} <- Children, is_pid(Child)]);
        _ -> []
    end];
tree(_, _) -> [].

%% The number of candidates, and those that may be traced at a time: the 64 with most reductions within a quarter of a
%% second.
busiest_of(Pids) when length(Pids) =< 64 -> {length(Pids), Pids};
busiest_of(Pids) ->
    Before = reductions_of(Pids),
    timer:sleep(250),
    {length(Pids), [Pid || {_, Pid} <- lists:sublist(worked(Before, reductions_of(Pids)), 64)]}.

%% Refuses a role that does not exist.
known_role(#{role := Role}) ->
    Roles = [atom_to_binary(Known, utf8) || Known <- roles:roles()],
    lists:member(Role, Roles) orelse
        throw({refused, no_such_role, ["no role is called ", Role, "; there are ", lists:join(", ", Roles)]}),
    ok;
known_role(_) -> ok.

reductions_of(Pids) ->
    maps:from_list([{Pid, R} || Pid <- Pids, Pid =/= self(), {reductions, R} <- [process_info(Pid, reductions)]]).

%% `{Reductions, Pid}` of the processes since the snapshot `Before`, in descending order.
worked(Before, Now) ->
    lists:reverse(lists:sort([{R - maps:get(Pid, Before, 0), Pid} || {Pid, R} <- maps:to_list(Now)])).
