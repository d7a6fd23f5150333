{application, echo, [
    {description, "The contract's service as JSON on MochiWeb"},
    {vsn, "1"},
    {modules, [echo_app, echo_sup, echo_web, messages]},
    {registered, [echo_sup, echo_web]},
    {applications, [kernel, stdlib, mochiweb, jiffy]},
    {mod, {echo_app, []}}
]}.
