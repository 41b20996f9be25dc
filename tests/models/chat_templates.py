"""chat_templates.py - writes tests/lua/support/chat_templates.lua: templates of dialogues in the forms
that models have, and their texts by Jinja with the settings of Hugging Face's transformers.

    python3 tests/models/chat_templates.py > tests/lua/support/chat_templates.lua

Needs transformers (with jinja2).
"""
import json
import os
import re

os.environ["HF_HUB_OFFLINE"] = "1"

from transformers.utils.chat_template_utils import _compile_jinja_template

TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather <now> in a place's \"centre\".", "parameters": {
    "type": "object", "properties": {"days": {"type": "integer"}, "place": {"type": "string", "description": "A town, e.g. Köln"}}, "required": ["place"]}}}
SHORT = [{"role": "user", "content": "Hello  "}]
LONG = [{"role": "system", "content": "  You are terse. "}, {"role": "user", "content": "Hi\n"}, {"role": "assistant", "content": "Héllo 🙂"},
        {"role": "user", "content": "And now?"}]
CALLS = [{"role": "system", "content": "Use tools."}, {"role": "user", "content": "Weather in Köln?"},
         {"role": "assistant", "content": "<think>\nA town.\n</think>\n\nLet me see.", "tool_calls": [{"type": "function", "function": {"name": "get_weather", "arguments": {"days": 2, "place": "Köln"}}}]},
         {"role": "tool", "name": "get_weather", "content": "{\"sky\": \"grey\"}"}, {"role": "tool", "content": "12 degrees"},
         {"role": "assistant", "content": "Grey, 12 degrees."}, {"role": "user", "content": "Thanks"}]

TEMPLATES = {
    "ChatML": """{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You are a helpful assistant<|im_end|>
' }}{% endif %}{{'<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}""",
    "Llama 2": """{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}""",
    "Llama 3": """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- The system message is taken out. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}

{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none %}
    {{- 'Respond with a JSON for a call in the form {"name": function name, "parameters": dictionary}.' }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}

{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("This model only supports single tool-calls at once!") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    "Mistral": """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}

{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, conversation roles must alternate user/assistant/user/assistant/...") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}

{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {{- ', "id": "' + ("%05d" if false else "abcdef123")[0:9] + '"}' }}
            {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}
            {%- set content = message.content.content %}
        {%- else %}
            {%- set content = message.content %}
        {%- endif %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + "}[/TOOL_RESULTS]" }}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported, with the exception of an initial optional system message!") }}
    {%- endif %}
{%- endfor %}
""",
    "Gemma": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '
' + message['content'] | trim + '<end_of_turn>
' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model
'}}{% endif %}""",
    "Gemma 3": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
""",
    "Phi-3": """{% for message in messages %}{% if message['role'] == 'system' %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}""",
    "Qwen 3": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- "# Tools\\n\\nSignatures are in <tools></tools>:\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n<|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}""",
    "macros": """{%- macro type_of(schema) -%}
{%- if schema.type is defined -%}{{ {"string": "str", "integer": "int", "object": "dict"}[schema.type] }}{%- else -%}Any{%- endif -%}
{%- endmacro -%}
{%- macro signature(tool, sep=", ") %}
{{ tool.name }}({% for name, schema in tool.parameters.properties.items() %}{{ name }}: {{ type_of(schema) }}{% if name not in tool.parameters.required %} = None{% endif %}{{ sep if not loop.last }}{% endfor %})
{%- endmacro -%}
{{ bos_token }}
{% for tool in tools or [] %}
  # {{ tool.function.description|replace('"', "'")|upper }}
{{ signature(tool.function, sep=" | ") }}
{% endfor %}
{% for role, title in {'user': 'You', 'assistant': 'I'}|dictsort %}
 - {{ role|capitalize }} = {{ title }}{{ ';' if not loop.last else '.' }}
{% endfor %}
{% for message in messages %}
{% if message.role == 'tool' %}{% continue %}{% endif %}
{{ loop.index }}/{{ loop.length }} {{ message.role.upper()[:3] }} {{ '%s' if false else message.content|trim|length }}
{% generation %}{{ message.content.split()|join('_') }}{% endgeneration %}

{%+ if loop.index > 3 %}{% break %}{% endif %}
{% endfor %}
{{ messages|map(attribute='role')|unique|join(', ') }} {{ [1, 2.5, none, true, 'a', (1,), {'k': []}] }} {{ 7 // 2 }} {{ 7 / 2 }} {{ -7 % 3 }} {{ 2 ** 5 }} {{ 1e20 }} {{ 0.1 + 0.2 }}
{{ messages[-1]['content'][::-1] }} {{ (messages|last).content[1:3] }} {{ missing }}|{{ missing is defined }}|{{ messages|length > 2 and 'many' or 'few' }}
{% raw %}{{ raw }}{% endraw %}
""",
}

# Templates of one line each; several in a line are joined by }}|{{.
EXPRESSIONS = r"""
{{ 'a,b,,c'.split(',') }}|{{ ' a  b '.split() }}|{{ 'a b c'.split(' ', 1) }}|{{ '\tx\n'.split() }}
{{ "it's" }}|{{ ["it's", 'q"', 'b\\n', 'é', 'a\nb'] }}
{{ 'hello world'|title }}|{{ 'hELLO wORLD'|capitalize }}|{{ "they're bill's"|title }}
{{ [3,1,2]|sort }}|{{ ['b','A','c']|sort }}|{{ ['b','A','c']|sort(case_sensitive=true) }}|{{ [3,1,2]|sort(reverse=true) }}
{{ {'b':1,'a':2}|dictsort }}|{{ {'b':1,'a':2}|tojson }}|{{ {'b':1,'a':2}|tojson(indent=2) }}|{{ []|tojson(indent=2) }}
{{ 'abc'[1] }}|{{ 'abc'[-1] }}|{{ 'abc'[5] }}|{{ 'abcdef'[1:4] }}|{{ 'abcdef'[::2] }}|{{ 'abcdef'[-3:-1] }}|{{ 'abcdef'[4:1:-1] }}|{{ 'abc'[10:] }}|{{ 'héß'[1:] }}
{{ [1,2,3][1:] }}|{{ [1,2,3][-2:] }}|{{ [1,2,3][::-1] }}|{{ (1,2,3)[:2] }}|{{ [][0] is defined }}
{{ 1e16 }}|{{ 123456789.0 }}|{{ 1e15 }}|{{ 1.5e-5 }}|{{ 0.0001 }}|{{ 1/3 }}|{{ 100.0 }}|{{ -0.0 }}|{{ 2.0**0.5 }}|{{ 1e22 }}
{{ 7 % -3 }}|{{ -7 // 2 }}|{{ 2**10 }}|{{ 2**-1 }}|{{ 5 - 3 - 1 }}|{{ 2 * 3 + 4 }}|{{ 1 + 2 ~ 3 }}|{{ -2|abs }}|{{ 3.7|int }}|{{ '12'|int }}|{{ 'x'|int }}|{{ 'x'|int(5) }}|{{ '1.5'|float }}|{{ 2.5|round }}|{{ 2.345|round(2) }}
{{ true and 'x' }}|{{ false or 'y' }}|{{ not 0 }}|{{ 1 < 2 < 3 }}|{{ 1 < 2 > 5 }}|{{ 'a' in 'abc' }}|{{ 1 in [1,2] }}|{{ 'k' in {'k':1} }}|{{ 3 not in [1] }}|{{ none is none }}|{{ 1 == 1.0 }}|{{ true == 1 }}|{{ 'a' < 'b' }}|{{ [1] == [1] }}|{{ (1,) == [1] }}
{{ x|default('d') }}|{{ ''|default('d') }}|{{ ''|default('d', true) }}|{{ none|d('z') }}|{{ x is undefined }}|{{ (x.y is defined) if x is defined else 'no' }}
{{ [1,2,3]|sum }}|{{ [1,5,3]|max }}|{{ [4,2]|min }}|{{ [1,1,2]|unique|list }}|{{ 'abc'|reverse }}|{{ [1,2]|reverse|list }}|{{ 'abc'|list }}|{{ 'abc'|first }}|{{ [1,2]|last }}
{{ 'a-b'.replace('-', '+') }}|{{ 'aaa'.replace('a','b',2) }}|{{ 'abc'|replace('b','') }}|{{ 'abc'.find('c') }}|{{ 'abc'.find('z') }}|{{ 'aXbX'.count('X') }}|{{ 'abc'.startswith('ab') }}|{{ 'abc'.endswith(('x','c')) }}
{{ '  x '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'xxaxx'.lstrip('x') }}|{{ 'xxaxx'.rstrip('x') }}|{{ '\n a \n'|trim }}|{{ ' a '|trim }}
{{ 'a\nb\nc'|indent }}|{{ 'a\nb'|indent(2, true) }}|{{ 'a\nb'.splitlines() }}|{{ ''.splitlines() }}|{{ '\n'.splitlines() }}
{{ ', '.join(['a','b']) }}|{{ [1,2]|join('-') }}|{{ [{'a':1},{'a':2}]|join(',', attribute='a') }}|{{ [{'a':1},{'a':2}]|map(attribute='a')|list }}|{{ ['a','b']|map('upper')|list }}
{{ [{'a':1},{'a':0}]|selectattr('a')|list }}|{{ [{'a':1},{'a':0}]|rejectattr('a')|list }}|{{ [1,2,3]|select('odd')|list }}|{{ [1,2,3]|reject('gt', 1)|list }}|{{ [{'a':1}]|selectattr('a','equalto',1)|list|length }}
{{ {'a':{'b':[10,20]}}.a.b[1] }}|{{ {'items':1}.items is callable }}|{{ {'items':1}['items'] }}|{{ {'a':1}.get('b','n') }}|{{ {'a':1}.get('b') }}|{{ {'a':1}.keys()|list }}|{{ {'a':1}.values()|list }}|{{ {'a':1}.items()|list }}|{{ {'a':1}|items|list }}
{% for i in range(3) %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.revindex }}{{ loop.cycle('a','b') }}{% endfor %}
{% for i in range(10, 0, -3) %}{{ i }},{% endfor %}{% for i in [] %}x{% else %}none{% endfor %}{% for a, b in [(1,2),(3,4)] %}{{ a+b }};{% endfor %}
{% for i in range(6) if i is even %}{{ i }}{{ ',' if not loop.last }}{% endfor %}
{% set x = 1 %}{% for i in [1,2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}
{% set ns = namespace(a=1) %}{% for i in [1,2] %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}
{% set b %}hi {{ 1 }}{% endset %}[{{ b }}]{% set a, c = 1, 2 %}{{ a }}{{ c }}
{% macro f(a, b='x', c=a) %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}{{ f(1) }}{{ f(1, c=2) }}{{ f() }}
{% if x is defined %}1{% elif 1 %}2{% else %}3{% endif %}
{{ 'yes' if 1 else 'no' }}{{ 'a' if 0 }}{{ 1 if 0 else 2 if 0 else 3 }}
{#- c -#}  a {#- b #} c {# d #}
  a  {{- 1 -}}   b  {%- if 1 -%}  c {%- endif %}   d
{{ 'a' 'b' }}|{{ "x\ty" }}|{{ '\u00e9' }}|{{ '\x41' }}
{{ 5 is odd }}|{{ 4 is divisibleby 2 }}|{{ 'a' is string }}|{{ 1 is number }}|{{ 1.0 is float }}|{{ {} is mapping }}|{{ [] is sequence }}|{{ 'a' is iterable }}|{{ 1 is iterable }}|{{ true is boolean }}|{{ 1 is not string }}|{{ 'A' is upper }}|{{ 2 is in [1,2] }}|{{ 1 is eq 1 }}|{{ 1 is integer }}
{{ [1, 'a', none, true, 1.5]|tojson }}|{{ 'é"\\\n<>&\u2028'|tojson }}|{{ none|string }}|{{ [none]|string }}
{{ 'abc'|length }}|{{ 'héllo'|count }}|{{ {'a':1}|length }}|{{ x|length }}|{{ 'A'|lower }}|{{ 'a' * 3 }}|{{ [1] + [2] }}
{{ (1, 2) }}|{{ (1,) }}|{{ () }}|{{ {'a': (1,2)}|tojson }}|{{ {1: 2} }}|{{ {1: 2}|tojson }}
{{ 'isdigit'.isdigit() }}|{{ '12'.isdigit() }}|{{ 'ab'.isalpha() }}|{{ ' '.isspace() }}|{{ 'AB'.isupper() }}|{{ 'A1'.isupper() }}|{{ 'ab'.islower() }}|{{ ''.islower() }}
{{ [[1,2],[3]]|map('length')|list }}|{{ [3,1]|sort|first }}|{{ dict(a=1) }}|{{ [1,2,3].index(2) }}|{{ [1,1].count(1) }}
{% raw %}{{ x }}{% endraw %} {% raw -%}  y {%- endraw %} z
{{ not true == false }}|{{ 1 + 2 * 3 ** 2 }}|{{ -3 ** 2 }}|{{ 2 ** 3 ** 2 }}|{{ 10 - 2 ~ 1 }}|{{ 'a' ~ 1 + 2 }}
{{ x.y }}
{{ 1 + 'a' }}
{{ [1,2]|nosuch }}
{{ foo() }}
{{ {'a': 1}['b'] }}|{{ {'a': 1}.b is defined }}|{{ [1].append(2) }}
{% for m in [{'c': [1,2]}] %}{% for x in m.c %}{{ loop.index }}{{ x }}{% endfor %}{{ loop.index }}{% endfor %}
{% for i in [1,2,3] %}{{ loop.previtem }}-{{ loop.nextitem }};{% endfor %}
{% for i in [1,2,3,4] %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}
""".strip("\n").split("\n") + ["{%+ if 1 +%}\nx{% endif %}\n{{ 1 }}\n{{ 2 }}", "a\n  {% if 1 %}\n  b\n  {%- endif %}\n  {# c #}\nd\n\n"]

CASES = [("short", dict(messages=SHORT, add_generation_prompt=True)), ("long", dict(messages=LONG, add_generation_prompt=False)),
         ("dialogue", dict(messages=LONG[1:], add_generation_prompt=True, enable_thinking=False)),
         ("calls", dict(messages=CALLS, tools=[TOOL], add_generation_prompt=True, date_string="1 Jan 2026"))]


def lua(value):
    """A Lua expression with the value."""
    if isinstance(value, bool) or isinstance(value, (int, float)):
        return json.dumps(value)
    if isinstance(value, str):
        return '"' + "".join(c if c not in '"\\\n' else {'"': '\\"', "\\": "\\\\", "\n": "\\n"}[c] for c in value) + '"'
    if isinstance(value, list):
        return "{ " + ", ".join(map(lua, value)) + " }"
    return "{ " + ", ".join("[%s] = %s" % (lua(k), lua(v)) for k, v in value.items()) + " }"


def main():
    print("-- chat_templates.lua - templates of dialogues, and their texts by Jinja; written by tests/models/chat_templates.py.\n")
    print("local variables = {")
    for title, values in CASES:
        print("  %s = %s," % (title, lua(dict(values, bos_token="<s>", eos_token="</s>"))))
    print("}\n\nreturn {\n  variables = variables,")
    for name, template in TEMPLATES.items():
        print("  {\n    title = '%s',\n    template = %s,\n    texts = {" % (name, lua(template)))
        for title, values in CASES:
            try:
                text = lua(_compile_jinja_template(template).render(bos_token="<s>", eos_token="</s>", **values))
            except Exception as error:
                text = "{ error = %s }" % lua(str(error))
            print("      %s = %s," % (title, text))
        print("    },\n  },")
    print("  expressions = {")
    for line in EXPRESSIONS:
        for template in [line] if re.search(r"{%|{#|\n|^ ", line) else line[2:-2].split("}}|{{"):
            template = template if template.startswith(("{", " ")) and ("{%" in template or "{#" in template) or "\n" in template else "{{" + template + "}}"
            try:
                text = lua(_compile_jinja_template(template).render())
            except Exception as error:
                text = "{ error = %s }" % lua(type(error).__name__)
            print("    { %s, %s }," % (lua(template), text))
    print("  },\n}")


main()
