#!/usr/bin/env escript
%% Compiles the Erlang files of agent/ and the modules that are assembled from them, with warnings as
%% errors, and checks their calls with xref. Arguments: the folder agent/, the folder with the assembled modules; or
%% a folder of separate modules.

main([Single]) ->
    Folder = filename:join(filename:basedir(user_cache, "rabbitscope-lint"), os:getpid()),
    try
        checked("single", compiled(files(Single), [], filename:join(Folder, "single")))
            orelse fail("calls are wrong", [])
    after file:del_dir_r(Folder)
    end;
main([Agent, Assembled]) ->
    Folder = filename:join(filename:basedir(user_cache, "rabbitscope-lint"), os:getpid()),
    try
        Single = compiled(files(Agent), [], filename:join(Folder, "single")),
        %% Each module needs only some functions of a shared part.
        Whole = compiled(files(Assembled), [nowarn_unused_function], filename:join(Folder, "assembled")),
        checked("agent", Single) andalso checked("assembled", Whole) orelse fail("calls are wrong", [])
    after file:del_dir_r(Folder)
    end.

files(Folder) ->
    case filelib:wildcard(filename:join(Folder, "**/*.erl")) of
        [] -> fail("~ts has no Erlang file", [Folder]);
        Files -> Files
    end.

compiled(Files, Options, Folder) ->
    ok = filelib:ensure_dir(filename:join(Folder, "any")),
    All = [debug_info, report, warnings_as_errors, warn_shadow_vars, warn_export_vars, warn_unused_import,
        {outdir, Folder} | Options],
    Failed = [File || File <- Files, compile:file(File, All) =:= error],
    Failed =:= [] orelse fail("does not compile: ~ts", [lists:join(", ", Failed)]),
    Folder.

%% Calls of functions that do not exist. Calls into RabbitMQ are checked if it is installed.
checked(Name, Folder) ->
    {ok, _} = xref:start(lint),
    ok = xref:set_default(lint, [{warnings, false}]),
    {ok, _} = xref:add_directory(lint, Folder),
    Broker = filelib:wildcard("/usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins/*/ebin"),
    ok = xref:set_library_path(lint, Broker ++ code:get_path()),
    {ok, Undefined} = xref:analyze(lint, undefined_function_calls),
    {ok, Unused} = xref:analyze(lint, exports_not_used),
    xref:stop(lint),
    Wrong = [Call || {_, {Module, _, _} = MFA} = Call <- Undefined,
        not is_of_later_release(MFA), Broker =/= [] orelse not is_of_broker(Module)],
    [io:format(standard_error, "~s: ~p calls ~p, which does not exist~n", [Name, From, To]) || {From, To} <- Wrong],
    Needless = [MFA || {Module, _, _} = MFA <- Unused, Name =:= "agent", not is_called_from_outside(Module)],
    [io:format(standard_error, "~s: nobody calls ~p, which is exported~n", [Name, MFA]) || MFA <- Needless],
    Wrong =:= [] andalso Needless =:= [].

%% Called through apply/3 if the release has them: OTP 27 and 28, RabbitMQ 4.0 and 4.1.
is_of_later_release({trace, _, _}) -> true;
is_of_later_release({rabbit_amqp_session, Function, _}) -> lists:member(Function, [list_local, info]);
is_of_later_release(MFA) -> lists:member(MFA, [{erlang, processes_iterator, 0}, {erlang, processes_next, 1}]).

is_of_broker(Module) ->
    lists:member(Module, [amqqueue, ra]) orelse lists:prefix("rabbit_", atom_to_list(Module)).

%% Called by the program, the keeper or a test.
is_called_from_outside(planted) -> true;
is_called_from_outside(Module) ->
    Name = atom_to_list(Module),
    lists:prefix("rabbitscope_", Name) orelse lists:suffix("_test", Name).

fail(Format, Arguments) ->
    io:format(standard_error, "lint: " ++ Format ++ "~n", Arguments),
    halt(1).
