%% Counts of the node's resources, and their limits.
-module(limits).
-export([counts/0, socket_count/0]).

%% `[{Name, Count, Limit}]`, without unreadable ones. The limit is `none` if the VM enforces none: only memory has
%% limited tables since OTP 20.
counts() ->
    Known = [
        {processes, info(process_count), info(process_limit)},
        {ports, info(port_count), info(port_limit)},
        {atoms, info(atom_count), info(atom_limit)},
        {tables, info(ets_count), none},
        {descriptors, descriptor_count(), descriptor_limit()}
    ],
    [One || {_, Count, Limit} = One <- Known, is_integer(Count), is_integer(Limit) orelse Limit =:= none].

info(Item) -> try erlang:system_info(Item) catch error:badarg -> unknown end.

%% Since 6.2, Linux counts descriptors in the size of the directory. Earlier, the directory is listed, unless it is
%% large.
descriptor_count() ->
    case file:read_file_info("/proc/self/fd", [raw]) of
        {ok, Info} when element(2, Info) > 0 -> element(2, Info);
        {ok, _} -> listed_descriptors(number_in("/proc/self/status", <<"FDSize:">>));
        _ -> unknown
    end.

listed_descriptors(Slots) when is_integer(Slots), Slots =< 65536 ->
    case file:list_dir("/proc/self/fd") of {ok, Names} -> length(Names); _ -> unknown end;
listed_descriptors(_) -> unknown.

descriptor_limit() -> number_in("/proc/self/limits", <<"Max open files">>).

number_in(File, Key) ->
    Read = case file:open(File, [read, raw, binary]) of
        {ok, Device} -> try file:read(Device, 16384) after file:close(Device) end;
        Error -> Error
    end,
    case Read of
        {ok, Text} ->
            case re:run(Text, [Key, "\\s+(\\d+)"], [{capture, all_but_first, binary}]) of
                {match, [Number]} -> binary_to_integer(Number);
                nomatch -> unknown
            end;
        _ -> unknown
    end.

socket_count() -> length([Port || Port <- erlang:ports(), erlang:port_info(Port, name) =:= {name, "tcp_inet"}]).
