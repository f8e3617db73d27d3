; What C has besides: parameters whose types stand behind the parentheses.

(parameter_list (identifier) @plain)
