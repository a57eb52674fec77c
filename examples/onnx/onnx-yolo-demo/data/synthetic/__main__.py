from data.synthetic.generate import main

main()
