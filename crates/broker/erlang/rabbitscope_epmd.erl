%% Finds the nodes of a throwaway cluster by the ports on the command line:
%%
%%     -epmd_module rabbitscope_epmd -rabbitscope_ports NAME PORT NAME PORT ...
%%
%% The port mapper hears of the nodes, so that other tools find them, and is never asked: any user of the machine may
%% register a name there and would receive the proof that a node knows the cookie.
-module(rabbitscope_epmd).
-export([start_link/0, register_node/2, register_node/3, port_please/2, port_please/3, names/1]).

%% The version of the distribution protocol since OTP 23.
-define(VERSION, 6).

start_link() -> erl_epmd:start_link().

register_node(Name, Port) -> erl_epmd:register_node(Name, Port).

register_node(Name, Port, Family) -> erl_epmd:register_node(Name, Port, Family).

names(Host) -> erl_epmd:names(Host).

port_please(Name, Host) -> port_please(Name, Host, infinity).

port_please(Name, _Host, _Timeout) ->
    {ok, [Words | _]} = init:get_argument(rabbitscope_ports),
    find(text(Name), Words).

find(Name, [Name, Port | _]) -> {port, list_to_integer(Port), ?VERSION};
find(Name, [_, _ | Rest]) -> find(Name, Rest);
find(_, []) -> noport.

text(Name) when is_atom(Name) -> atom_to_list(Name);
text(Name) -> Name.
