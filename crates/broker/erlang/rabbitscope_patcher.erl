%% Puts functions, or whole modules, in place of those of the node that this runs on: throwaway nodes only, before
%% they get any load. Nothing is written to the disk. The caller loads this module, calls it once and deletes it.
-module(rabbitscope_patcher).

-export([patch/1, module/1, prepare/3, complete/1]).

%% The functions in File take the place of those of the same module, name and arity.
%% {ok, Module, ["route/2", ...], Sha256} or {error, Text}.
patch(File) -> answer(fun() -> loaded(made(patch, File)) end, File).

%% A whole module, as source or as object code.
module(File) -> answer(fun() -> loaded(made(module, File)) end, File).

%% As the two above, but the code is kept for a slot, from which it can be loaded at once and again and again.
prepare(Slot, Kind, File) ->
    answer(fun() ->
        {Module, Path, Code, Functions} = made(Kind, File),
        keep(Slot, [{Module, Path, Code} | lists:keydelete(Module, 1, kept(Slot))]),
        {Module, Functions}
    end, File).

%% Gives each of so many slots the modules of all of them, as they are installed where the slot does not change them. So
%% switching costs the same whichever slot comes next.
complete(Slots) ->
    answer(fun() ->
        All = lists:seq(0, Slots - 1),
        Modules = lists:usort([Module || Slot <- All, {Module, _, _} <- kept(Slot)]),
        [keep(Slot, [of_slot(Module, kept(Slot)) || Module <- Modules]) || Slot <- All],
        {none, []}
    end, none).

keep(Slot, Code) -> persistent_term:put({?MODULE, Slot}, Code).

kept(Slot) -> persistent_term:get({?MODULE, Slot}, []).

of_slot(Module, Slot) ->
    case lists:keyfind(Module, 1, Slot) of
        false ->
            {Module, Code, Path} = code:get_object_code(Module),
            {Module, Path, Code};
        Prepared -> Prepared
    end.

%% {Module, Path, Code, Names of functions}
made(patch, File) ->
    {Module, Patch} = forms_of(File),
    {Installed, Forms} = installed(Module),
    Functions = [It || It <- Patch, element(1, It) =:= function],
    Functions =/= [] orelse throw({"~ts has no function", [File]}),
    require_known(File, Module, Functions, added(Patch), Forms),
    New = replaced(Forms, Functions, Patch, File, Installed),
    {Module, Code} = compiled(compile:forms(New, options()), File),
    {Module, Installed, Code, [name(It) || It <- Functions]};
made(module, File) ->
    {Module, Code} = case filename:extension(File) of
        ".beam" -> object_code(File);
        _ -> compiled(compile:file(File, [binary | options()]), File)
    end,
    {Module, File, Code, []}.

loaded({Module, Path, Code, Functions}) ->
    load(Module, Path, Code),
    {Module, Functions}.

answer(Do, File) ->
    try
        Bytes = case File of
            none -> <<>>;
            _ -> {ok, Read} = file:read_file(File), Read
        end,
        {Module, Functions} = Do(),
        Hash = binary:encode_hex(crypto:hash(sha256, Bytes)),
        {ok, atom_to_list(Module), Functions, string:lowercase(binary_to_list(Hash))}
    catch
        throw:{Format, Values} -> {error, text(Format, Values)};
        Class:Reason -> {error, text("~ts: ~0tp", [base(File), {Class, Reason}])}
    end.

text(Format, Values) -> lists:flatten(io_lib:format(Format, Values)).

%% Debug information stays, so that a patched module can be looked into like any other.
options() -> [return_errors, debug_info, nowarn_unused_function, nowarn_unused_record].

%% What the patch says, with its macros and records.
forms_of(File) ->
    {ok, Forms} = epp:parse_file(File, [{default_encoding, utf8}]),
    case [Error || {error, Error} <- Forms] of
        [] -> ok;
        [{Location, By, Description} | _] -> refuse(File, Location, By:format_error(Description))
    end,
    case [Module || {attribute, _, module, Module} <- Forms] of
        [Module] when is_atom(Module) -> {Module, Forms};
        _ -> throw({"~ts does not say which module it patches: begin with -module(NAME).", [base(File)]})
    end.

%% Object code's file and the forms in its debug information, parse transforms applied.
installed(Module) ->
    case code:get_object_code(Module) of
        {Module, Code, Path} ->
            case beam_lib:chunks(Code, [abstract_code]) of
                {ok, {_, [{abstract_code, {raw_abstract_v1, Forms}}]}} -> {Path, Forms};
                _ -> throw({"~ts has no debug information, from which a patched module could be made: give the whole "
                            "module instead (broker.modules)", [Module]})
            end;
        error ->
            throw({"the node has no module ~ts", [Module]})
    end.

%% Names in -adds([lookup/2]): functions that the module does not have yet.
added(Patch) -> lists:append([Names || {attribute, _, adds, Names} <- Patch, is_list(Names)]).

require_known(File, Module, Functions, Added, Forms) ->
    There = [{Name, Arity} || {function, _, Name, Arity, _} <- Forms],
    [case {lists:member({Name, Arity}, There), lists:member({Name, Arity}, Added)} of
        {true, false} -> ok;
        {false, true} -> ok;
        {false, false} ->
            refuse(File, Location, text("~ts has no function ~ts/~b; a new one is announced by -adds([~ts/~b]).",
                [Module, Name, Arity, Name, Arity]));
        {true, true} ->
            refuse(File, Location, text("~ts has a function ~ts/~b already", [Module, Name, Arity]))
     end || {function, Location, Name, Arity, _} <- Functions],
    ok.

%% The installed module with the patch's functions. File attributes keep places in messages and in stacks right.
replaced(Forms, Functions, Patch, File, Path) ->
    Places = fun(Form, Where) ->
        Line = erl_anno:line(element(2, Form)),
        [{attribute, erl_anno:new(Line), file, {Where, Line}}]
    end,
    Ours = fun(Form) -> Places(Form, base(File)) ++ [Form] end,
    Records = [Form || {attribute, _, record, {Name, _}} = Form <- Patch, not has_record(Name, Forms)],
    Replace = fun({function, _, Name, Arity, _} = Form) ->
            case [It || {function, _, N, A, _} = It <- Functions, {N, A} =:= {Name, Arity}] of
                [It] -> Ours(It) ++ Places(Form, Path);
                [] -> [Form]
            end;
        (Form) -> [Form]
    end,
    There = [{Name, Arity} || {function, _, Name, Arity, _} <- Forms],
    New = [It || {function, _, Name, Arity, _} = It <- Functions, not lists:member({Name, Arity}, There)],
    {Before, After} = lists:splitwith(fun(Form) -> element(1, Form) =/= function end, Forms),
    {Middle, End} = lists:splitwith(fun(Form) -> element(1, Form) =/= eof end, After),
    Before ++ lists:append([Ours(It) || It <- Records]) ++ lists:append([Replace(It) || It <- Middle])
        ++ lists:append([Ours(It) || It <- New]) ++ End.

has_record(Name, Forms) -> [] =/= [x || {attribute, _, record, {N, _}} <- Forms, N =:= Name].

compiled(Result, File) ->
    case Result of
        {ok, Module, Code} -> {Module, Code};
        {ok, Module, Code, _} -> {Module, Code};
        {error, [{_, [{Location, By, Description} | _]} | _], _} -> refuse(File, Location, By:format_error(Description));
        Other -> throw({"~ts was not compiled: ~0tp", [base(File), Other]})
    end.

object_code(File) ->
    {ok, Code} = file:read_file(File),
    case beam_lib:info(Code) of
        {error, _, _} -> throw({"~ts is no object code", [base(File)]});
        Info -> {proplists:get_value(module, Info), Code}
    end.

%% Also in place of modules of OTP. Processes that run the code of before go on in it until they call the module by
%% its name.
load(Module, Path, Code) ->
    code:unstick_mod(Module),
    code:purge(Module),
    case code:load_binary(Module, Path, Code) of
        {module, Module} -> ok;
        {error, Reason} -> throw({"~ts was not loaded: ~0tp", [Module, Reason]})
    end.

name({function, _, Name, Arity, _}) -> text("~ts/~b", [Name, Arity]).

base(none) -> "the prepared code";
base(File) -> filename:basename(File).

refuse(_, none, Text) -> throw({"~ts", [lists:flatten(Text)]});
refuse(File, Location, Text) ->
    Line = erl_anno:line(erl_anno:new(Location)),
    throw({"~ts:~b: ~ts", [base(File), Line, lists:flatten(Text)]}).
