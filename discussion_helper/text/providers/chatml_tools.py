"""A chat template with tools, for models that speak ChatML and whose own template knows none."""

__all__ = ["CHATML_TOOLS"]

CHATML_TOOLS = r"""
{%- set first = messages[0] if messages and messages[0].role == 'system' else none -%}
{%- set turns = messages[1:] if first else messages -%}
{%- if first or tools -%}
  {{- '<|im_start|>system\n' + (first.content if first else '') -}}
  {%- if tools -%}
    {{- ('\n\n' if first else '') + 'You can use these tools:\n<tools>' -}}
    {%- for tool in tools -%}{{- '\n' + (tool.function | tojson) -}}{%- endfor -%}
    {{- '\n</tools>\nTo use one, write only its name and arguments as JSON:\n' -}}
    {{- '<tool_call>\n{"name": NAME, "arguments": {...}}\n</tool_call>' -}}
  {%- endif -%}
  {{- '<|im_end|>\n' -}}
{%- endif -%}
{%- for turn in turns -%}
  {%- if turn.role == 'tool' -%}
    {%- if loop.first or turns[loop.index0 - 1].role != 'tool' -%}{{- '<|im_start|>user' -}}{%- endif -%}
    {{- '\n<tool_response>\n' + turn.content + '\n</tool_response>' -}}
    {%- if loop.last or turns[loop.index0 + 1].role != 'tool' -%}{{- '<|im_end|>\n' -}}{%- endif -%}
  {%- else -%}
    {{- '<|im_start|>' + turn.role + '\n' + (turn.content or '') -}}
    {%- for call in turn.tool_calls or [] -%}
      {{- ('\n' if turn.content or not loop.first else '') + '<tool_call>\n{"name": ' -}}
      {{- (call.function.name | tojson) + ', "arguments": ' + (call.function.arguments | tojson) + '}\n</tool_call>' -}}
    {%- endfor -%}
    {{- '<|im_end|>\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}
"""
"""Tools are told in the system's turn, calls stand between `<tool_call>` tags, the form that Qwen and Hermes models
learnt; a model that learnt another, or none, calls when it must (ToolChoice("required")) and hardly ever else."""
