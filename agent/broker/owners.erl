%% Roles, names, virtual hosts, connections and clients of processes.
%%
%% Rows are sent some hundred at a time. A row is {Pid, Role, Name, VHost, Connection, Client}: Pid as the node prints it,
%% Role an atom, the others binaries (empty if unknown).
-module(owners).
-export([known_owners/1, owners/2, ended_owners/2]).

-type to() :: {pid(), reference()}.

%% Queues, channels and connections in the broker's tables. No process is asked or disturbed.
-spec known_owners(to()) -> {parts, non_neg_integer(), ok}.
known_owners(To) ->
    Row = fun (What) -> fun (Pid, Key, Sent) -> add(To, row(Pid, of_table(What, Pid, Key)), Sent) end end,
    All = lists:foldl(fun (What, Sent) -> broker_tables:each(What, Row(What), Sent) end, none_sent(),
        [connections, channels, queues, followers]),
    {parts, sent(To, All), ok}.

%% The processes with these pids; `gone` is the role of one that has ended.
-spec owners(to(), [binary()]) -> {parts, non_neg_integer(), ok}.
owners(To, Texts) ->
    Known = fun (Pid, Key, Found) -> Found#{Pid => of_table(queues, Pid, Key)} end,
    Queues = broker_tables:each(followers, Known, broker_tables:each(queues, Known, #{})),
    Owners = broker_tables:each(connections, fun (Pid, _, Found) ->
        {_, Name, VHost, _, Client} = of_table(connections, Pid, none),
        Found#{Name => {VHost, Client}}
    end, #{}),
    Each = fun (Text, Sent) -> add(To, row(Text, asked(roles:local_pid(Text), Queues, Owners)), Sent) end,
    {parts, sent(To, lists:foldl(Each, none_sent(), Texts)), ok}.

%% Processes that have ended, each with its start function (the root of its stack). That function decides the role;
%% `gone` if it belongs to no role.
-spec ended_owners(to(), [{Pid :: binary(), Module :: binary(), Function :: binary()}]) ->
    {parts, non_neg_integer(), ok}.
ended_owners(To, Processes) ->
    Each = fun ({Pid, Module, Function}, Sent) -> add(To, row(Pid, {role_of_ended(Module), Function, <<>>, <<>>, <<>>}), Sent) end,
    {parts, sent(To, lists:foldl(Each, none_sent(), Processes)), ok}.

role_of_ended(Module) ->
    try roles:role_of(none, {binary_to_existing_atom(Module, utf8), any, 0}, []) of
        other -> gone;
        Role -> Role
    catch error:badarg -> gone end.

asked(Pid, Queues, Owners) when is_pid(Pid) ->
    case {Queues, roles:shown_role(Pid)} of
        {#{Pid := Known}, Role} -> setelement(1, Known, Role);
        {_, channel} -> of_table(channels, Pid, none);
        {_, Role} when Role =:= tls_sender; Role =:= tls_connection ->
            of_connection(Pid, Role, roles:process_name(Pid), Owners);
        {_, unknown} -> gone();
        {_, Role} -> of_connection(Pid, Role, served(Pid, Role), Owners)
    end;
asked(_, _, _) -> gone().

gone() -> {gone, <<>>, <<>>, <<>>, <<>>}.

of_connection(Pid, Role, Connection, Owners) ->
    {VHost, Client} = maps:get(Connection, Owners, {<<>>, <<>>}),
    {Role, named(Pid), VHost, Connection, Client}.

of_table(What, Pid, {resource, VHost, queue, Name}) when What =:= queues; What =:= followers ->
    {queue_role(Pid), Name, VHost, <<>>, <<>>};
of_table(connections, Pid, _) ->
    Infos = broker_tables:infos(connection_created, Pid),
    Name = broker_tables:text(name, Infos),
    {reader, Name, broker_tables:text(vhost, Infos), Name, client(Infos)};
of_table(channels, Pid, _) ->
    Infos = broker_tables:infos(channel_created, Pid),
    Owner = broker_tables:infos(connection_created, proplists:get_value(connection, Infos)),
    Connection = broker_tables:text(name, Owner),
    {channel, broker_tables:text(name, Infos), broker_tables:text(vhost, Infos), Connection, client(Owner)}.

%% The client's name for itself, and its user.
client(Infos) ->
    case {broker_tables:text(user_provided_name, Infos), broker_tables:text(user, Infos)} of
        {Given, <<>>} -> Given;
        {<<>>, User} -> <<"user ", User/binary>>;
        {Given, User} -> <<Given/binary, ", user ", User/binary>>
    end.

%% Decides without asking the process. One with a registered name is the Ra server of a quorum queue.
queue_role(Pid) ->
    case process_info(Pid, registered_name) of {registered_name, Name} when is_atom(Name) -> roles:replica_role(Pid); _ -> queue end.

%% The process's own name, or its start function.
named(Pid) ->
    case roles:process_name(Pid) of
        <<>> ->
            case process_info(Pid, [initial_call, dictionary]) of
                [{_, Initial}, {_, Dictionary}] -> function_name(proplists:get_value('$initial_call', Dictionary, Initial));
                _ -> <<>>
            end;
        Name -> Name
    end.

function_name({M, F, A}) -> unicode:characters_to_binary(io_lib:format("~ts:~ts/~b", [M, F, A]));
function_name(_) -> <<>>.

%% The connection that a process serves: from its own name if possible, else from the processes around it.
served(Pid, Role) ->
    Named = case process_info(Pid, dictionary) of {dictionary, Dictionary} -> lists:keyfind(process_name, 1, Dictionary); _ -> none end,
    case Named of
        {_, {_, {Name, Number}}} when is_binary(Name), is_integer(Number) -> Name;
        {_, {rabbit_writer, Name}} when is_binary(Name) -> Name;
        %% A reader's own name ends with the client's name for itself, which the broker's table omits.
        _ -> roles:served_connection(Pid, Role)
    end.

row(Pid, Known) when is_pid(Pid) -> row(list_to_binary(pid_to_list(Pid)), Known);
row(Text, {Role, Name, VHost, Connection, Client}) -> {Text, Role, short(Name), short(VHost), short(Connection), short(Client)}.

%% Cuts a name. RabbitMQ's own names have at most 255 bytes, and stay whole.
short(Text) when byte_size(Text) > 600 -> binary:part(Text, 0, 600);
short(Text) -> Text.

none_sent() -> {[], 0, 0}.

add(To, Row, {Rows, 299, Sent}) -> {[], 0, send(To, [Row | Rows], Sent)};
add(_, Row, {Rows, Count, Sent}) -> {[Row | Rows], Count + 1, Sent}.

sent(_, {[], _, Sent}) -> Sent;
sent(To, {Rows, _, Sent}) -> send(To, Rows, Sent).

send({Pid, Ref}, Rows, Sent) ->
    Pid ! {Ref, {rows, Rows}},
    Sent + 1.
