%% Starts and stops the plugin: one context on a listener of its own.
%%
%% `{rabbitmq_queue_info, [{listener, [{ip, "127.0.0.1"}, {port, 15679}]}]}` in advanced.config sets the listener.
%% `{ssl, true}` and `{ssl_opts, [...]}` make it HTTPS. Other machines can connect only if `ip` permits it.
-module(rabbit_queue_info_app).
-behaviour(application).
-behaviour(supervisor).
-export([start/2, stop/1, init/1]).

start(_Type, _Args) ->
    {ok, Configured} = application:get_env(rabbitmq_queue_info, listener),
    Listener = local_by_default(Configured),
    Routes = cowboy_router:compile([{'_', [
        {"/queue-info", rabbit_queue_info_handler, []},
        {"/queue-info/:vhost", rabbit_queue_info_handler, []}
    ]}]),
    {ok, Supervisor} = supervisor:start_link(?MODULE, []),
    {ok, _} = rabbit_web_dispatch:register_context_handler(?MODULE, Listener, "queue-info", Routes, "Queue info"),
    {ok, Supervisor}.

%% Without HTTPS, credentials travel unencrypted.
local_by_default(Listener) ->
    case proplists:is_defined(ip, Listener) of
        true -> Listener;
        false -> [{ip, "127.0.0.1"} | Listener]
    end.

stop(_State) ->
    rabbit_web_dispatch:unregister_context(?MODULE),
    ok.

%% The table of consumers ends with the supervisor.
init([]) ->
    rabbit_queue_info:new_table(),
    {ok, {{one_for_one, 1, 1}, []}}.
